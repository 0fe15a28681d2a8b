const rate = 16_000
const seconds = 1
const headerBytes = 44

/** One second of a tone that fades in and out, 16 bit mono; its pitch comes from the seed. */
export const wavTone = (seed: Buffer): Uint8Array => {
  const samples = rate * seconds
  const wav = Buffer.alloc(headerBytes + samples * 2)
  wav.write('RIFF', 0)
  wav.writeUInt32LE(wav.length - 8, 4)
  wav.write('WAVEfmt ', 8)
  wav.writeUInt32LE(16, 16)
  wav.writeUInt16LE(1, 20)
  wav.writeUInt16LE(1, 22)
  wav.writeUInt32LE(rate, 24)
  wav.writeUInt32LE(rate * 2, 28)
  wav.writeUInt16LE(2, 32)
  wav.writeUInt16LE(16, 34)
  wav.write('data', 36)
  wav.writeUInt32LE(samples * 2, 40)
  const pitch = 220 * 2 ** ((seed[0] ?? 0) / 128)
  for (let n = 0; n < samples; n++) {
    const fade = Math.sin((Math.PI * n) / samples)
    const value = Math.sin((2 * Math.PI * pitch * n) / rate) * fade * 0.6
    wav.writeInt16LE(Math.round(value * 32_767), headerBytes + n * 2)
  }
  return wav
}
