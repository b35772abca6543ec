// Buffers, which live in malloc, beside V8's own heap.
const scale = Number(process.argv[2]);
const { createHash } = require('crypto');
const { deflateRawSync } = require('zlib');
let state = 12345;
const number = (limit) => { state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff; return (state >> 8) % limit; };
const alive = [];
const digest = createHash('sha256');
for (let i = 0; i < 40000 * scale; i++) {
  const buffer = Buffer.alloc(4096 + number(20000), i & 255);
  alive[number(500)] = buffer;
  if (number(60) === 0) digest.update(deflateRawSync(buffer));
}
console.log(alive.filter(Boolean).length, digest.digest('hex'));
