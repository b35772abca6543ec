// Workers compress and hash buffers that were allocated in other threads; the results come back in order.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const { createHash, pbkdf2Sync } = require('crypto');
const zlib = require('zlib');
const { promisify } = require('util');
const { pipeline } = require('stream/promises');
const { Readable } = require('stream');

const deflate = promisify(zlib.deflate), inflate = promisify(zlib.inflate);
const brotli = promisify(zlib.brotliCompress), unbrotli = promisify(zlib.brotliDecompress);
const sha = data => createHash('sha256').update(data).digest('hex');

async function work(buffer) {
  const sizes = [];
  const pieces = [];
  for (let at = 0; at < buffer.length; at += 40000) pieces.push(Buffer.from(buffer.subarray(at, at + 40000)));
  await Promise.all(pieces.map(async (piece, i) => {
    const packed = await deflate(piece, { level: 1 + (i % 9) });
    if (!piece.equals(await inflate(packed))) throw new Error('zlib does not come back');
    sizes[i] = packed.length;
  }));
  const small = await brotli(buffer, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } });
  if (!buffer.equals(await unbrotli(small))) throw new Error('brotli does not come back');
  return [small.length, sizes.reduce((a, b) => a + b), sha(buffer), pbkdf2Sync(buffer.subarray(0, 32), 'salt', 200, 64, 'sha512').toString('hex')];
}

if (!isMainThread) {
  parentPort.on('message', async array => {
    const result = await work(Buffer.from(array));
    array = new Uint8Array(array);
    array.reverse();
    parentPort.postMessage({ result, buffer: array.buffer }, [array.buffer]);
  });
} else (async () => {
  const rounds = Number(process.argv[2]);
  const workers = Array.from({ length: 4 }, () => new Worker(__filename));
  const ask = (worker, buffer) => new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.postMessage(buffer, [buffer]);
  });
  let buffers = workers.map((_, k) => {
    let state = k + 1;
    const array = new Uint8Array(300000 + 1000 * k);
    for (let i = 0; i < array.length; i++) { state = (Math.imul(state, 1103515245) + 12345) >>> 0; array[i] = 97 + (state >>> 16) % (5 + k); }
    return array.buffer;
  });
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(workers.map((worker, k) => ask(worker, buffers[(k + round) % workers.length])));
    buffers = answers.map(answer => answer.buffer);
    const objects = Array.from({ length: 20000 }, (_, i) => ({ id: i, name: 'n' + (i * 7919) % 1000, list: [i, i + 1, i * round] }));
    const text = JSON.stringify(objects);
    const chunks = [];
    await pipeline(Readable.from((function* () { for (let i = 0; i < text.length; i += 5000) yield text.slice(i, i + 5000); })()),
      zlib.createGzip(), zlib.createGunzip(), async source => { for await (const chunk of source) chunks.push(chunk); });
    if (Buffer.concat(chunks).toString() !== text) throw new Error('the stream does not come back');
    console.log(round, sha(text), JSON.stringify(answers.map(answer => answer.result)));
  }
  await Promise.all(workers.map(worker => worker.terminate()));
})().catch(error => { console.error(error); process.exit(1); });
