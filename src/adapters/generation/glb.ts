const magic = 0x46546c67
const jsonChunk = 0x4e4f534a
const binaryChunk = 0x004e4942

const padded = (bytes: Buffer, filler: number): Buffer => {
  const missing = (4 - (bytes.length % 4)) % 4
  return Buffer.concat([bytes, Buffer.alloc(missing, filler)])
}

const chunk = (type: number, bytes: Buffer): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32LE(bytes.length, 0)
  head.writeUInt32LE(type, 4)
  return Buffer.concat([head, bytes])
}

const corners = [
  [1, 1, 1],
  [-1, -1, 1],
  [-1, 1, -1],
  [1, -1, -1],
]
const faces = [0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2]

/** A tetrahedron in glTF 2.0 binary form, in a colour that comes from the seed. */
export const glbOf = (seed: Buffer): Uint8Array => {
  const indices = Buffer.from(new Uint16Array(faces).buffer)
  const positions = Buffer.from(new Float32Array(corners.flat()).buffer)
  const binary = padded(Buffer.concat([indices, positions]), 0)
  const colour = [0, 1, 2].map((n) => Number(((seed[n] ?? 0) / 255).toFixed(3)))
  const gltf = {
    asset: { version: '2.0', generator: 'Reprise' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 1 }, indices: 0, material: 0 }] }],
    materials: [{ pbrMetallicRoughness: { baseColorFactor: [...colour, 1] }, doubleSided: true }],
    buffers: [{ byteLength: binary.length }],
    bufferViews: [
      { buffer: 0, byteOffset: 0, byteLength: indices.length },
      { buffer: 0, byteOffset: indices.length, byteLength: positions.length },
    ],
    accessors: [
      { bufferView: 0, componentType: 5123, count: faces.length, type: 'SCALAR' },
      {
        bufferView: 1,
        componentType: 5126,
        count: corners.length,
        type: 'VEC3',
        min: [-1, -1, -1],
        max: [1, 1, 1],
      },
    ],
  }
  const json = chunk(jsonChunk, padded(Buffer.from(JSON.stringify(gltf)), 0x20))
  const body = Buffer.concat([json, chunk(binaryChunk, binary)])
  const head = Buffer.alloc(12)
  head.writeUInt32LE(magic, 0)
  head.writeUInt32LE(2, 4)
  head.writeUInt32LE(head.length + body.length, 8)
  return Buffer.concat([head, body])
}
