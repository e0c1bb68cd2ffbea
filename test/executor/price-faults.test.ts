import { expect } from 'chai'
import { encodeFunctionData, parseAbi, type Abi } from 'viem'
import type { ChainClient } from '../../chain/reads/client.js'
import type { Address, Hex } from '../../core/action.js'
import type { SettlementTerms } from '../../executor/settlement.js'
import { watchFaults } from '../../executor/watch-faults.js'
import { aFuture } from '../support/builders.js'
import { eventually } from '../support/eventually.js'

const market = aFuture()
const ADDRESS: Address = `0x${'ab'.repeat(20)}`
const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const call = (text: string): Hex => encodeFunctionData({ abi: parseAbi([text]) as Abi })

/** What differs from a chain on which everything is allowed and nothing is paused. */
const answers: Readonly<Record<Hex, bigint>> = {
  [call('function adjustmentsPaused()')]: 0n,
  [call('function futureAsset()')]: BigInt(market.assetAddress),
  [call('function manager()')]: BigInt(market.marginManagerAddress),
  [call('function quoteAsset()')]: BigInt(market.quoteAssetAddress),
  [call('function wrappedUsdc()')]: BigInt(market.quoteAssetAddress),
}

const client = {
  getCode: () => Promise.resolve('0x60'),
  request: ({ params: [{ data }] }: { readonly params: readonly [{ readonly data: Hex }] }) =>
    Promise.resolve(word(answers[data] ?? 1n)),
} as unknown as ChainClient

describe('executor watching a market of futures', () => {
  it('lets matches at other prices go on when one is outside of the band, and none with a stale index', async () => {
    let revert = ''
    let looks = 0
    const watch = await watchFaults({
      client,
      sender: ADDRESS,
      markets: [market],
      everyMs: 1,
      deployment: { matching: ADDRESS, subAccounts: ADDRESS, batchExecutor: ADDRESS },
      packer: {
        simulate: () =>
          Promise.resolve({ aheadPassed: true, verdicts: [{ kind: 'reverts', revert }] }),
      },
      readHead: () => {
        looks += 1
        return Promise.resolve({ blockHash: word(1n), count: 0 })
      },
      facts: { faultFound: () => undefined, faultGone: () => undefined },
      onFatal: (error) => {
        throw error as Error
      },
    })
    const terms = { call: '0x', accountIds: [] } as unknown as SettlementTerms
    const refuse = (name: string) => watch.refused(market.market, terms, (revert = name))
    try {
      refuse('FT_IndexStale')
      await eventually(() => watch.standing()?.get(market.market) === 'FT_IndexStale')
      expect(looks).to.be.above(0)
      // The next look finds that the index is fresh again.
      revert = 'none'
      await eventually(() => watch.standing()?.size === 0)
      refuse('FT_OutsideFillBand')
      const before = looks
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect([watch.standing()?.size, looks]).to.deep.equal([0, before])
    } finally {
      await watch.stop()
    }
  })
})
