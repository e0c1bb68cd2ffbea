import { expect } from 'chai'
import { encodeFunctionData, type Abi } from 'viem'
import type { Address } from '../../core/action.js'
import { ONE } from '../support/devnet-actions.js'
import { openWorld, perform, type World } from '../support/devnet-world.js'
import { randomNumbers } from '../support/random-numbers.js'
import { compileTestContracts, deployTestContract } from '../support/test-contracts.js'

/** Owes whatever the others claim. */
const DEBTOR = 99n
const SEED = 54
const STEPS = 120

describe('ledgers of futures after losses that leave hardly anything', () => {
  let world: World
  let abi: Abi
  let ledger: Address

  before(async () => {
    world = await openWorld()
    const { TestLedger } = await compileTestContracts<'TestLedger'>('TestLedger.sol', {
      enabled: true,
    })
    abi = TestLedger.abi
    const { sub_accounts: accounts, future_asset: asset } = world.at
    ledger = await deployTestContract(world.client, TestLedger, accounts, asset)
  })
  after(() => world.anvil.stop())

  const send = (functionName: string, ...args: readonly unknown[]) => {
    const data = encodeFunctionData({ abi, functionName, args: [...args] })
    return perform(world, { from: world.at.deployer, to: ledger, data })
  }
  const ask = (functionName: string, ...args: readonly unknown[]) =>
    world.client.readContract({ address: ledger, abi, functionName, args }) as Promise<bigint>
  const ledgerOf = (id: bigint) => ask('ledgerOf', id)
  /** A claim, which the debtor owes. */
  async function claim(id: bigint, amount: bigint): Promise<void> {
    await send('credit', id, amount)
    await send('credit', DEBTOR, -amount)
  }
  const lose = (loss: bigint) => send('shareLoss', DEBTOR, loss)

  it('lose by dust no more than the dust, and its rounding', async () => {
    await claim(1n, ONE)
    await lose(ONE - 1n)
    await claim(2n, ONE - 1n)
    await lose(ONE - 1n)
    const large = 10n ** 6n * ONE
    await claim(3n, large)
    await lose(1n)
    const left = await ledgerOf(3n)
    expect(left <= large && left >= large - 2n, `${left} is left`).to.equal(true)
    await lose(await ask('totalClaims'))
    expect(await ledgerOf(3n)).to.equal(0n)
  })

  /** The loss is a part of 1e18, so that hardly anything is left, or everything but dust, or nothing at all. */
  const lossOf = (next: (below: number) => number, total: bigint): bigint => {
    const kind = next(12)
    if (kind === 0) return total
    if (kind < 3) return total - 1n
    if (kind < 5) return total - 1n - (total * BigInt(next(1_000))) / 10n ** 15n
    return kind < 8 ? 1n : (total * BigInt(1 + next(999))) / 1_000n
  }

  it(`are as exact fractions say, rounded down by less than two units, in ${STEPS} steps (seed ${SEED})`, async () => {
    const next = randomNumbers(SEED)
    /** What each claim is, as a fraction. */
    const exact = new Map<bigint, readonly [bigint, bigint]>()
    let [losses, deepest] = [0, 1n]
    for (let step = 0; step < STEPS; step += 1) {
      const total = await ask('totalClaims')
      const loss = lossOf(next, total)
      if (next(2) === 0 && loss > 0n && loss <= total) {
        await lose(loss)
        losses += 1
        for (const [id, [part, whole]] of exact)
          exact.set(id, [part * (total - loss), whole * total])
        if (loss < total && total / (total - loss) > deepest) deepest = total / (total - loss)
      } else {
        const id = BigInt(10 + next(6))
        await claim(id, 1n + BigInt(next(10 ** 6)) * 10n ** BigInt(next(20)))
        exact.set(id, [await ledgerOf(id), 1n])
      }
      let sum = await ledgerOf(DEBTOR)
      for (const [id, [part, whole]] of exact) {
        const left = await ledgerOf(id)
        sum += left
        const short = part - left * whole
        expect(short >= 0n && short < 2n * whole, `${id} in step ${step}`).to.equal(true)
      }
      expect(sum <= 0n && -sum <= BigInt(losses * (exact.size + 3)), `step ${step}`).to.equal(true)
    }
    expect(losses, 'losses').to.be.above(STEPS / 4)
    expect(deepest > 10n ** 18n, 'a loss leaves hardly anything').to.equal(true)
  })
})
