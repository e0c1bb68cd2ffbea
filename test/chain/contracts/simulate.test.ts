import { expect } from 'chai'
import { RpcRequestError } from 'viem'
import { simulateMatch } from '../../../chain/contracts/simulate.js'
import {
  ChainUnreachable,
  createChainClient,
  type ChainClient,
} from '../../../chain/reads/client.js'
import { PAID, PAYER } from '../../../chain/reads/paid-call.js'
import type { Address, Hex } from '../../../core/action.js'
import { startAnvil, type Anvil } from '../../support/anvil.js'
import { noAnswer } from '../../support/silent-node.js'

const FROM: Address = `0x${'aa'.repeat(20)}`
const TO: Address = `0x${'bb'.repeat(20)}`
const BARE = { from: FROM, to: TO, data: '0x' } as const
const CALL = { ...BARE, blockHash: '0xb1' } as const
const ASKED = { method: 'eth_estimateGas' }
const PAYING = {
  ...ASKED,
  params: [{ ...BARE, ...PAID }, { blockHash: '0xb1' }, { [FROM]: PAYER }],
}
const NOT_PAYING = { ...ASKED, params: [BARE, { blockHash: '0xb1' }] }

const rpcError = (code: number, message: string, data?: Hex) =>
  new RpcRequestError({ body: {}, url: 'http://node', error: { code, message, data } })

/** What comes of a simulation on a node that gives these answers in turn, and what it was asked. */
async function simulatedOn(...answers: readonly unknown[]) {
  const asked: unknown[] = []
  const request = (question: unknown) => {
    const answer = answers[asked.push(question) - 1]
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  const client = { request } as unknown as ChainClient
  const result = await simulateMatch(client, CALL).catch((error: unknown) => error)
  return { asked, result }
}

describe('the simulation of a match', () => {
  it('is a transaction that pays for its gas', async () => {
    const { asked, result } = await simulatedOn('0x10')
    expect(result).to.deep.equal({ kind: 'passes', gas: 16n })
    expect(asked).to.deep.equal([PAYING])
  })

  it('pays nothing on a node that refuses fees or state overrides', async () => {
    for (const refusal of [
      rpcError(-32_602, 'too many arguments, want at most 2'),
      rpcError(-32_000, 'max fee per gas less than block base fee'),
      rpcError(-32_000, 'insufficient funds for gas * price + value'),
    ]) {
      const { asked, result } = await simulatedOn(refusal, '0x10')
      expect(result).to.deep.equal({ kind: 'passes', gas: 16n })
      expect(asked).to.deep.equal([PAYING, NOT_PAYING])
    }
  })

  it('is done once when the match reverts, and when nothing answers', async () => {
    const reverted = await simulatedOn(rpcError(3, 'execution reverted', '0x'), '0x10')
    expect(reverted.result).to.include({ kind: 'reverts' })
    expect(reverted.asked).to.deep.equal([PAYING])
    const silent = await simulatedOn(noAnswer(), '0x10')
    expect(silent.result).to.be.instanceOf(ChainUnreachable)
    expect(silent.asked).to.deep.equal([PAYING])
  })

  describe('on a chain', () => {
    let anvil: Anvil
    before(async () => (anvil = await startAnvil()))
    after(() => anvil.stop())

    it('shows code a base fee and a gas price, whatever the sender has', async () => {
      const client = createChainClient(anvil.rpcUrl, 'read')
      // Jumps to its end if what comes before is not 0, else halts.
      for (const seen of ['48', '3a', '483a11']) {
        const dest = (seen.length / 2 + 4).toString(16).padStart(2, '0')
        await anvil.client.setCode({ address: TO, bytecode: `0x${seen}60${dest}57fe5b00` })
        const result = await simulateMatch(client, BARE)
        expect(result, seen).to.include({ kind: 'passes' })
      }
    })
  })
})
