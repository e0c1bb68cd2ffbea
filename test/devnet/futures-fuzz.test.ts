import { expect } from 'chai'
import { encodeFunctionData, maxUint256, type Abi, type AbiFunction, type AbiParameter } from 'viem'
import type { Address } from '../../core/action.js'
import type { ContractName } from '../../devnet/chain/compile-contracts.js'
import { ONE } from '../support/devnet-actions.js'
import { revertOf } from '../support/devnet-world.js'
import { TEN, useJumpStage } from '../support/futures-jump.js'
import { act, INDEX, settleFill } from '../support/futures-world.js'

/** Functions that any caller may call; every other one belongs to a role, a contract or the owner of an account. */
const OPEN: Readonly<Record<string, readonly string[]>> = {
  FutureAsset: ['recordIndex', 'settle', 'retireSeries'],
  FuturesManager: ['settleVariation', 'accrueAtIndex', 'closeOut', 'coverLoss'],
  FutureTradeModule: [],
  FutureLiquidationModule: [],
}
const CONTRACTS = [
  ['FutureAsset', 'future_asset'],
  ['FuturesManager', 'futures_manager'],
  ['FutureTradeModule', 'future_trade_module'],
  ['FutureLiquidationModule', 'future_liquidation_module'],
] as const satisfies readonly (readonly [ContractName, string])[]

/** Zero, one, the extremes and what exists, of a type. */
function valuesOf(parameter: AbiParameter, known: readonly bigint[], owner: Address): unknown[] {
  const { type } = parameter
  if (type.endsWith('[]')) {
    const one = { ...parameter, type: type.slice(0, -2) }
    return [[], ...valuesOf(one, known, owner).map((value) => [value])]
  }
  if (type === 'tuple') {
    const parts = (parameter as { readonly components: readonly AbiParameter[] }).components
    return [0, -1].map((at): Record<string, unknown> =>
      Object.fromEntries<unknown>(
        parts.map((part) => [part.name ?? '', valuesOf(part, known, owner).at(at)] as const),
      ),
    )
  }
  if (type === 'bool') return [false, true]
  if (type === 'address') return [`0x${'00'.repeat(20)}`, owner]
  if (type === 'bytes') return ['0x', `0x${'ff'.repeat(64)}`]
  if (type === 'bytes32') return [`0x${'ff'.repeat(32)}`]
  if (type === 'string') return ['']
  const bits = BigInt(/\d+/.exec(type)?.[0] ?? 256)
  if (type.startsWith('int')) return [-(2n ** (bits - 1n)), -1n, 0n, 2n ** (bits - 1n) - 1n]
  return [0n, 1n, ...known.filter((value) => value < 2n ** bits), 2n ** bits - 1n]
}

/** Each value of each parameter, with the first or the last values of the others. */
function callsOf(fn: AbiFunction, known: readonly bigint[], owner: Address): unknown[][] {
  const values = fn.inputs.map((input) => valuesOf(input, known, owner))
  if (values.length === 0) return [[]]
  return values.flatMap((ofOne, i) =>
    ofOne.flatMap((value) =>
      [0, -1].map((at) => values.map((others, j) => (j === i ? value : others.at(at)))),
    ),
  )
}

const changesOf = (abi: Abi): AbiFunction[] =>
  abi.filter(
    (item): item is AbiFunction =>
      item.type === 'function' && !['view', 'pure'].includes(item.stateMutability),
  )

describe('each function of the contracts of futures, called by another key', () => {
  const s = useJumpStage()

  beforeEach(async () => {
    const [taker, maker] = s.owner
    await settleFill(s.world, { taker, maker, amount: TEN / 2n, price: INDEX })
    await s.jump(1_600n * ONE)
  })

  for (const [name, role] of CONTRACTS) {
    it(`is refused whatever the values, unless any caller may call it: ${name}`, async () => {
      const { abi } = s.world.artifacts[name]
      const from = s.world.alice.address
      const known = [s.world.subId, s.owner[0].subaccountId, s.owner[1].subaccountId]
      const taken: string[] = []
      let refused = 0
      for (const fn of changesOf(abi)) {
        if (OPEN[name]?.includes(fn.name) === true) continue
        for (const args of callsOf(fn, known, from)) {
          const data = encodeFunctionData({ abi, functionName: fn.name, args })
          const answer = await revertOf(s.world, { from, to: s.world.at[role], data })
          if (answer === 'none') taken.push(`${fn.name}(${args.join()})`)
          else refused += 1
        }
      }
      expect(taken).to.deep.equal([])
      expect(refused).to.be.greaterThan(3)
    })
  }

  it('moves no worth where any caller may call it', async () => {
    const ids = [...s.owner, ...s.rich, s.poor, s.rescuer]
    const worths = () => Promise.all(ids.map((one) => s.worthOf(one, 1_600n * ONE)))
    const before = await worths()
    const known = [s.world.subId, ...ids.map(({ subaccountId }) => subaccountId), maxUint256]
    let done = 0
    for (const [name, role] of [CONTRACTS[0], CONTRACTS[1]]) {
      const { abi } = s.world.artifacts[name]
      for (const fn of changesOf(abi).filter((one) => OPEN[name]?.includes(one.name))) {
        for (const args of callsOf(fn, known, s.world.alice.address)) {
          const data = encodeFunctionData({ abi, functionName: fn.name, args })
          const call = { from: s.world.alice.address, to: s.world.at[role], data }
          if ((await revertOf(s.world, call)) !== 'none') continue
          const on = name === 'FutureAsset' ? 'asset' : 'manager'
          await act(s.world, call.from, on, fn.name, ...args)
          done += 1
        }
      }
    }
    expect(done).to.be.greaterThan(5)
    expect(await worths()).to.deep.equal(before)
  })
})
