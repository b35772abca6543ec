"""nginx under wrk: plain, large and compressed answers, configuration reloads in the middle; every byte checked."""

import gzip
import hashlib
import os
import random
import re
import signal
import time
import urllib.request

import driver

CONFIGURATION = """
daemon off;
{user}
worker_processes 2;
pid {directory}/pid;
error_log {directory}/error.log notice;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {directory}/tmp/body; proxy_temp_path {directory}/tmp/proxy; fastcgi_temp_path {directory}/tmp/fastcgi;
  uwsgi_temp_path {directory}/tmp/uwsgi; scgi_temp_path {directory}/tmp/scgi;
  types {{ text/plain txt; }}
  gzip on; gzip_min_length 100; gzip_types text/plain;
  server {{
    listen 127.0.0.1:{port};
    root {directory}/pages;
    location /joined/ {{ proxy_pass http://127.0.0.1:{port}/; proxy_buffers 4 4k; proxy_buffer_size 4k; }}
    location /list/ {{ alias {directory}/pages/; autoindex on; }}
  }}
}}
"""


def fetch(port, path, packed=False):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Accept-Encoding": "gzip"} if packed else {})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
        data = answer.read()
        if packed and answer.headers.get("Content-Encoding") != "gzip":
            raise driver.Failed(f"{path} did not come compressed")
    return hashlib.sha256(gzip.decompress(data) if packed else data).hexdigest()


def produce(world):
    port, chance = driver.loopback_port(), random.Random(42)
    for number, size in enumerate((40, 3000, 70_000, 1_500_000)):
        world.write(f"pages/{number}.txt", "".join(chance.choices("abcdefgh \n", k=size)))
    user = "user root;" if os.getuid() == 0 else ""
    settings = world.write("nginx.conf", CONFIGURATION.format(port=port, user=user, directory=world.directory))
    command = ["nginx", "-p", world.directory, "-e", world.path("error.log"), "-c", settings]
    paths = [f"{where}/{number}.txt" for where in ("", "/joined") for number in range(4)]
    results = {"configuration": world.run(*command, "-t")}
    with world.serve(*command, ready=lambda: fetch(port, "/0.txt"), ends=signal.SIGQUIT) as server:
        for turn, path in enumerate(["/0.txt", "/joined/1.txt", "/2.txt", "/joined/2.txt"]):
            said = world.run(
                "wrk",
                "-t",
                2,
                "-c",
                40,
                "-d",
                f"{world.size(2, 30)}s",
                "-H",
                "Accept-Encoding: gzip" if turn % 2 else "X: y",
                f"http://127.0.0.1:{port}{path}",
                timeout=90,
            )
            errors = re.findall(r"(?:Socket errors|Non-2xx).*", said)
            served = re.search(r"(\d+) requests in", said)
            results[f"wrk {path}"] = errors or bool(served and int(served[1]) > 50)
            server.send_signal(signal.SIGHUP)
            time.sleep(0.3)
            for one in paths:
                results[f"{one} after {turn}"] = fetch(port, one), (fetch(port, one, True) if "0.txt" not in one else None)
    log = world.path("error.log").read_text()
    results["alarms"] = re.findall(r".*\[(?:alert|crit|emerg)\].*|.*exited on signal.*", log)
    return results


driver.run(name="nginx", needs=[("nginx", "nginx-light"), ("wrk", "wrk")], serves="nginx", proof=["nginx", "-v"], produce=produce)
