import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import secp256k1 from 'secp256k1'
import { bytesToHex, hexToBytes, keccak256 } from '../../chain/signing/keys.js'
import type { Hex } from '../../core/action.js'
import { MOODS, type SignerMood, type StandInData } from './stand-in-signer.js'

const { keys, shared } = workerData as StandInData
const mood = (): SignerMood => MOODS[Atomics.load(shared, 0)] ?? 'signs'

const ORDER = 2n ** 256n - 0x14551231950b75fc4402da1732fc9bebfn

const held = new Map(keys.map((key) => [publicKeyOf(key), key]))
/** Stands in for web3signer: its two paths of eth1, as its documentation has them. It hashes the data itself. */
const server = createServer((request, response) => {
  const { url = '', method } = request
  if (method === 'GET' && url === '/api/v1/eth1/publicKeys') {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify([...held.keys()]))
    return
  }
  const [, identifier = ''] = /^\/api\/v1\/eth1\/sign\/(0x[0-9a-f]{128})$/.exec(url) ?? []
  const key = held.get(identifier as Hex)
  if (method !== 'POST' || key === undefined) response.writeHead(404).end()
  else void sign(request, response, key)
})

async function sign(request: IncomingMessage, response: ServerResponse, key: Hex) {
  Atomics.add(shared, 1, 1)
  let body = ''
  for await (const part of request) body += String(part)
  const { data } = JSON.parse(body) as { data: Hex }
  if (mood() === 'silent') return
  if (mood() === 'refuses') return void response.writeHead(500).end()
  if (mood() === 'babbles') return void response.end('0x12')
  const used: Hex = mood() === 'other key' ? `0x${'5a'.repeat(32)}` : key
  const { signature, recid } = secp256k1.ecdsaSign(keccak256(hexToBytes(data)), hexToBytes(used))
  const s = BigInt(bytesToHex(signature.subarray(32)))
  const shown = mood() === 'high s' ? ORDER - s : s
  const v = (27 + recid).toString(16)
  const r = bytesToHex(signature.subarray(0, 32))
  response.end(`${r}${shown.toString(16).padStart(64, '0')}${v}`)
}

server.listen(0, '127.0.0.1')
await once(server, 'listening')
parentPort?.postMessage((server.address() as { port: number }).port)

/** Uncompressed, without the leading 04. */
function publicKeyOf(key: Hex): Hex {
  return bytesToHex(secp256k1.publicKeyCreate(hexToBytes(key), false).subarray(1))
}
