import { expect } from 'chai'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connectLane } from '../../chain/lane-chain.js'
import type { Hex } from '../../core/action.js'

const FROM = `0x${'aa'.repeat(20)}` as const
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

/** A node that knows no receipt, and what it was sent. */
async function startNode() {
  const bodies: unknown[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const asked = JSON.parse(text) as { id: number } | { id: number }[]
      bodies.push(asked)
      const answer = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: null })
      const answers = Array.isArray(asked) ? asked.map(answer) : answer(asked)
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { bodies, rpcUrl: `http://127.0.0.1:${port}`, stop }
}

describe('the chain as a lane asks it', () => {
  it('is asked for each receipt by itself: those of full batches together are too long for one answer', async () => {
    const node = await startNode()
    const chain = connectLane(node.rpcUrl, FROM)
    const receipts = [1, 2, 3].map((evmNonce) => {
      const attempt = { hash: hashOf(evmNonce), raw: '0x', gasLimit: 1n, maxFeePerGas: 1n } as const
      return chain.receipt({ from: FROM, evmNonce, intentIds: [], attempts: [attempt] })
    })
    expect(await Promise.all(receipts)).to.deep.equal([undefined, undefined, undefined])
    await node.stop()
    expect(node.bodies.map((body) => Array.isArray(body))).to.deep.equal([false, false, false])
  })
})
