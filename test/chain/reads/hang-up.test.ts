import { expect } from 'chai'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ChainUnreachable, createChainClient, orUnreachable } from '../../../chain/reads/client.js'
import { createHangUp, HungUp } from '../../../chain/reads/hang-up.js'
import { eventually } from '../../support/eventually.js'

const AFTER_MS = 20
const rejectionOf = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('questions to a node that are hung up', () => {
  let asked = 0
  const node = createServer(() => void (asked += 1))
  let rpcUrl = ''
  before(async () => {
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  })
  after(() => {
    node.close()
    node.closeAllConnections()
  })

  it('have no answer, those in flight as those after them, whatever asks', async () => {
    for (const purpose of ['read', 'long', 'judge', 'submit'] as const) {
      const hangUp = createHangUp(AFTER_MS)
      const client = createChainClient(rpcUrl, purpose, hangUp)
      const question = () => rejectionOf(orUnreachable('chain', client.getChainId()))
      const before = asked
      const inFlight = question()
      await eventually(() => expect(asked).to.equal(before + 1))
      hangUp.soon()
      expect(await inFlight).to.be.instanceOf(ChainUnreachable)
      expect(asked).to.equal(before + 1)
      expect(await question()).to.be.instanceOf(ChainUnreachable)
      expect(asked).to.equal(before + 1)
    }
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
