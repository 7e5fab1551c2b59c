const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The CRC-32 of ZIP and PNG. The oldest tested Node has no `zlib.crc32`. @param {Uint8Array} bytes */
export function crc32(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) value = Number(table[(value ^ byte) & 0xff]) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
