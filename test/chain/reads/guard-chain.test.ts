import { expect } from 'chai'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { ChainUnreachable, createChainClient, orUnreachable } from '../../../chain/reads/client.js'
import { DeploymentMismatch } from '../../../chain/reads/deployment.js'
import { guardChain, type ChainGuard } from '../../../chain/reads/guard-chain.js'
import { eventually } from '../../support/eventually.js'

const RIGHT = 8453
const WRONG = 1
const EVERY_MS = 20

/** A node that names the chains in turn, the last one for good; undefined: it does not answer. */
async function startNode() {
  let chains: (number | undefined)[] = [RIGHT]
  let asked = 0
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const calls = JSON.parse(body) as { id: number; method: string }[]
      const answers = calls.map(({ id, method }) => {
        if (method !== 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x10' }
        asked += 1
        const chain = chains.length > 1 ? chains.shift() : chains[0]
        return chain && { jsonrpc: '2.0', id, result: `0x${chain.toString(16)}` }
      })
      if (answers.includes(undefined)) response.destroy()
      else response.end(JSON.stringify(answers))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    rpcUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    name: (...next: (number | undefined)[]) => (chains = next),
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

describe('the guard of the chain id', () => {
  let node: Awaited<ReturnType<typeof startNode>>
  let guard: ChainGuard | undefined
  let shown: number[]
  let said: string[]
  beforeEach(async () => {
    node = await startNode()
    ;[shown, said, guard] = [[], [], undefined]
  })
  afterEach(async () => {
    await guard?.stop()
    await node.stop()
  })

  const start = async () => {
    guard = await guardChain({
      rpcUrl: node.rpcUrl,
      chainId: RIGHT,
      everyMs: EVERY_MS,
      log: {
        error: (_, message) => said.push(message),
        info: (_, message) => said.push(message),
      },
      show: (_, value) => shown.push(value),
      onFatal: (error) => said.push(String(error)),
    })
  }
  const read = () =>
    orUnreachable('the height', createChainClient(node.rpcUrl, 'probe').getBlockNumber()).then(
      Number,
      (error: unknown) => error,
    )
  const failureOf = (work: Promise<unknown>) => work.catch((error: unknown) => error)

  it('ends a start after three equal wrong answers, not after fewer or other ones (OPE-032)', async () => {
    node.name(WRONG)
    const failure = await failureOf(start())
    expect(failure).to.be.instanceOf(DeploymentMismatch)
    expect(failure).to.have.property('message', 'the deployment is on chain 8453, the node on 1')
    expect(node.asked()).to.equal(3)
    // The guard is gone with it.
    expect(await read()).to.equal(16)

    node.name(WRONG, WRONG, 5, WRONG, WRONG, RIGHT)
    await start()
    expect(node.asked()).to.equal(9)
  })

  it('takes what a node on another chain says for silence, and ends nothing after the start', async () => {
    await start()
    expect(await read()).to.equal(16)
    node.name(WRONG)
    await eventually(() => shown.at(-1) === 1)
    const failure = await read()
    expect(failure).to.be.instanceOf(ChainUnreachable)
    expect(String((failure as Error).cause)).to.include('the node on 1')
    const asked = node.asked()
    await eventually(() => node.asked() >= asked + 5)
    expect(said).to.deep.equal(['the node is on another chain: it counts as silent'])
    expect(await read()).to.be.instanceOf(ChainUnreachable)
  })

  it('goes on after three right answers in a row', async () => {
    await start()
    node.name(WRONG, RIGHT, RIGHT, WRONG, RIGHT, RIGHT, undefined, RIGHT)
    await eventually(() => expect(shown).to.deep.equal([0, 0, 1, 1, 0]))
    expect(await read()).to.equal(16)
    expect(said).to.have.length(2)
  })

  it('lets nothing through before a node that was silent at the start has named its chain', async () => {
    node.name(undefined, undefined, undefined, RIGHT)
    await start()
    expect(await read()).to.be.instanceOf(ChainUnreachable)
    await eventually(async () => expect(await read()).to.equal(16))
    expect(said).to.deep.equal([])
  })

  it('ends a process whose node was silent at first and has never been on the right chain', async () => {
    node.name(undefined, WRONG)
    await start()
    await eventually(() => expect(said).to.have.length(2))
    expect(said[1]).to.equal('DeploymentMismatch: the deployment is on chain 8453, the node on 1')
  })

  it('gives no wrong chain id to a process that asks for it', async () => {
    await start()
    await guard?.stop()
    guard = undefined
    node.name(WRONG)
    const client = createChainClient(node.rpcUrl, 'probe')
    expect(await client.getChainId()).to.equal(WRONG)
    node.name(RIGHT)
    await start()
    node.name(WRONG)
    const asked = orUnreachable('the chain', client.getChainId())
    expect(await failureOf(asked)).to.be.instanceOf(ChainUnreachable)
  })
})
