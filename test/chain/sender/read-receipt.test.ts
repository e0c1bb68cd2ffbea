import { expect } from 'chai'
import { createPublicClient, custom } from 'viem'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { readReceipt } from '../../../chain/sender/sender-chain.js'
import type { Hex } from '../../../core/action.js'

const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const FROM = `0x${'aa'.repeat(20)}` as const
const TO = `0x${'bb'.repeat(20)}` as const

type Request = Parameters<typeof custom>[0]['request']

/** A client of a node that answers so, and is asked once. */
const clientOf = (request: Request) =>
  createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })

/** A transaction that was signed so often, of which the chain holds these receipts. */
async function read(forms: number, receipts: Readonly<Record<Hex, object>>) {
  const asked: Hex[] = []
  const request = ({ params }: { readonly params: readonly [Hex] }) => {
    asked.push(params[0])
    return Promise.resolve(receipts[params[0]] ?? null)
  }
  const attempts = Array.from({ length: forms }, (_, i) => {
    return { hash: hashOf(i + 1), raw: '0x', gasLimit: 1n, maxFeePerGas: 1n } as const
  })
  const transaction = { from: FROM, evmNonce: 1, intentIds: ['a'], attempts }
  return { asked, receipt: await readReceipt(clientOf(request), transaction) }
}

const log = { address: TO, topics: [hashOf(8)], data: '0x05' }
const mined = (status: string) => ({
  status,
  blockNumber: '0x10',
  blockHash: hashOf(9),
  to: TO,
  logs: [{ ...log, removed: false, logIndex: '0x0' }],
})

describe('the receipt of a transaction', () => {
  it('is that of whichever signed form was mined', async () => {
    for (const form of [1, 2, 3]) {
      const { asked, receipt } = await read(3, { [hashOf(form)]: mined('0x1') })
      expect(asked).to.deep.equal([1, 2, 3].map(hashOf))
      expect(receipt).to.deep.equal({
        status: 'success',
        hash: hashOf(form),
        to: TO,
        blockNumber: 16n,
        blockHash: hashOf(9),
        logs: [log],
      })
    }
  })

  it('says that the transaction reverted', async () => {
    const { receipt } = await read(1, { [hashOf(1)]: mined('0x0') })
    expect(receipt?.status).to.equal('reverted')
  })

  it('is no outcome without a status that the chain defines', async () => {
    for (const status of ['0x01', '0x2', '', null]) {
      const error: unknown = await read(1, { [hashOf(1)]: { ...mined(''), status } }).catch(
        (failure: unknown) => failure,
      )
      expect(error, String(status)).to.be.instanceOf(ChainUnreachable)
    }
  })

  it('is absent while no form is mined', async () => {
    expect((await read(2, {})).receipt).to.equal(undefined)
  })

  it('is an error while the node does not answer', async () => {
    const request = () => Promise.reject(new ChainUnreachable('silence'))
    const attempts = [{ hash: hashOf(1), raw: '0x', gasLimit: 1n, maxFeePerGas: 1n } as const]
    const transaction = { from: FROM, evmNonce: 1, intentIds: [], attempts }
    const error: unknown = await readReceipt(clientOf(request), transaction).catch(
      (failure: unknown) => failure,
    )
    expect(error).to.be.instanceOf(ChainUnreachable)
  })
})
