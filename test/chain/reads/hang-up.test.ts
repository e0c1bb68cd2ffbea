import { expect } from 'chai'
import { ChainUnreachable, createChainClient, orUnreachable } from '../../../chain/reads/client.js'
import { createHangUp, HungUp } from '../../../chain/reads/hang-up.js'
import { connectSender } from '../../../chain/sender/sender-chain.js'
import { eventually } from '../../support/eventually.js'
import { startRpcProxy, type RpcProxy } from '../../support/rpc-proxy.js'

const AFTER_MS = 20
const NO_NODE = 'http://127.0.0.1:1'
const rejectionOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('questions to a node that are hung up', () => {
  let node: RpcProxy
  beforeEach(async () => {
    node = await startRpcProxy(NO_NODE)
    node.fateOf = () => ({ after: new Promise(() => undefined) })
  })
  afterEach(() => node.stop())

  for (const purpose of ['read', 'long', 'judge', 'submit'] as const)
    it(`have no answer from a client to ${purpose}, in flight and later`, async () => {
      const hangUp = createHangUp(AFTER_MS)
      const client = createChainClient(node.rpcUrl, purpose, hangUp)
      const question = () => rejectionOf(orUnreachable('height', client.getBlockNumber()))
      const inFlight = question()
      await eventually(() => expect(node.asked).to.deep.equal(['eth_blockNumber']))
      hangUp.soon()
      expect(await inFlight).to.be.instanceOf(ChainUnreachable)
      const asked = node.asked.length
      expect(await question()).to.be.instanceOf(ChainUnreachable)
      expect(node.asked).to.have.length(asked)
    })

  for (const hung of ['eth_getTransactionByHash', 'debug_traceTransaction'] as const)
    it(`leave a revert unexplained while ${hung} has no answer, so that no name is recorded`, async () => {
      const { fateOf } = node
      node.fateOf = (method) => (method === hung ? fateOf(method) : { error: 'no such method' })
      const hangUp = createHangUp(AFTER_MS)
      const chain = connectSender(node.rpcUrl, `0x${'1'.repeat(40)}`, { hangUp })
      const hash = `0x${'2'.repeat(64)}` as const
      const mined = { hash, blockNumber: 3n, blockHash: hash, to: null, logs: [] }
      const named = rejectionOf(chain.revertOf({ ...mined, status: 'reverted' }))
      await eventually(() => expect(node.asked).to.include(hung))
      hangUp.soon()
      expect(await named).to.be.instanceOf(ChainUnreachable)
    })

  it('are answered until then, and fail as they do', async () => {
    const hangUp = createHangUp(AFTER_MS)
    expect(await hangUp.answered(() => Promise.resolve(7))).to.equal(7)
    const failure = new Error('of the node')
    expect(await rejectionOf(hangUp.answered(() => Promise.reject(failure)))).to.equal(failure)
    hangUp.soon()
    expect(await hangUp.answered(() => Promise.resolve(8))).to.equal(8)
    const never = new Promise<never>(() => undefined)
    expect(await rejectionOf(hangUp.answered(() => never))).to.be.instanceOf(HungUp)
  })
})
