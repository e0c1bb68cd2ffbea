import { expect } from 'chai'
import { parseEventLogs, type TransactionReceipt } from 'viem'
import { futuresManagerAbi } from '../../chain/abi/contracts.js'
import { revertName } from '../../chain/abi/errors.js'
import { cngnValue, variationOf } from '../../core/contracts/future-margin.js'
import { E18 } from '../../core/money.js'
import { ONE } from './devnet-actions.js'
import { balanceOf, receiptOf, revertOf, send, type Call, type Trader } from './devnet-world.js'
import { ask, callOf, KEEPER, positionOf, type FuturesWorld } from './futures-world.js'

/** Half of the maintenance rate of the devnet, at 1e18: the highest bonus of a liquidation. */
const HALF_RATE = 35n * 10n ** 15n
/** USDC for cNGN worth one USD of an account below maintenance margin, at 1e18. */
const CURE_RATE = (102n * E18) / 100n
/** cNGN of a cure that comes before the others: hardly any index divides it. */
const ODD = 12_345_678_901_234_567_891n

/** What an account has: both tokens, and cNGN with all variation margin. */
interface Wealth {
  readonly usdc: bigint
  readonly wrapped: bigint
  readonly cngn: bigint
}

export interface Rescue {
  readonly world: FuturesWorld
  readonly id: bigint
  /** Takes over and pays; owns its NFT. */
  readonly rescuer: Trader
  readonly insurer: Trader
  /** Every account that may have a position or a claim. */
  readonly everyone: readonly bigint[]
  readonly index: bigint
  readonly mark: bigint
}

/** What was done; `shared` is the cNGN that claims have borne. */
export interface Rescued {
  readonly liquidated: boolean
  /** A part of the bonus was paid in cNGN. */
  readonly tookCngn: boolean
  readonly cured: boolean
  readonly covered: boolean
  readonly shared: bigint
}

/**
 * Liquidates an account, pays its debt for its USDC, then ends what is left of it, each as far as the manager allows.
 * Compares what each step moved with the exact value: a step that is refused moves nothing, no rounding is in favour of
 * who acts, and claims are cut after the account's USDC and the insurance are gone.
 */
export async function rescueChecked(
  rescue: Rescue,
  { portion, cngn }: { readonly portion: bigint; readonly cngn: bigint },
): Promise<Rescued> {
  const { world, id, rescuer, everyone } = rescue
  const by = rescuer.subaccountId
  const from = rescuer.address
  let tookCngn = false
  const liquidated = await compare(
    rescue,
    callOf(world, from, 'manager', 'liquidate', id, world.subId, by, portion),
    (...compared) => {
      checkLiquidation(...compared)
      const [, before, after] = compared
      tookCngn = gain(before, after).cngn > 0n
    },
  )
  await refusesEarlyLoss(rescue)
  let cured = false
  for (const amount of [ODD, cngn]) {
    const call = callOf(world, from, 'manager', 'cure', id, by, amount)
    cured = (await compare(rescue, call, checkCure)) || cured
  }
  const settle = callOf(world, KEEPER, 'manager', 'settleVariation', everyone)
  expect((await receiptOf(world, await send(world, settle))).status).to.equal('success')
  return { liquidated, tookCngn, cured, ...(await coverLoss(rescue)) }
}

type Check = (rescue: Rescue, before: Pair, after: Pair, receipt: TransactionReceipt) => void

interface Pair {
  readonly account: Wealth
  readonly rescuer: Wealth
}

async function compare(rescue: Rescue, call: Call, check: Check): Promise<boolean> {
  const before = await readPair(rescue)
  const receipt = await receiptOf(rescue.world, await send(rescue.world, call))
  if (receipt.status !== 'success') return false
  const after = await readPair(rescue)
  for (const kind of ['usdc', 'cngn'] as const) {
    const sum = ({ account, rescuer }: Pair) => account[kind] + rescuer[kind]
    expect(sum(after), `${kind} of both`).to.equal(sum(before))
  }
  check(rescue, before, after, receipt)
  return true
}

/** At the index the rescuer gets the bonus and not a unit more: at most half the requirement, at most what the account has. */
const checkLiquidation: Check = ({ index }, before, after, receipt) => {
  const [event] = parseEventLogs({
    abi: futuresManagerAbi,
    logs: receipt.logs,
    eventName: 'PositionLiquidated',
  })
  const { contracts = 0n, bonus = 0n } = event?.args ?? {}
  const size = contracts < 0n ? -contracts : contracts
  expect(bonus * ONE <= size * 1_000n * HALF_RATE, 'half the requirement').to.equal(true)
  const { usdc, cngn } = before.account
  const equity = usdc + cngnValue(cngn, index, E18)
  expect(bonus <= (equity > 0n ? equity : 0n), 'what the account has').to.equal(true)
  const got = gain(before, after)
  const short = bonus * index - (got.usdc * index + got.cngn * ONE)
  expect(short >= 0n && short < ONE, 'the bonus, its cNGN rounded down').to.equal(true)
  if (got.cngn > 0n) expect(after.account.usdc, 'USDC comes first').to.equal(0n)
}

/** The rescuer gets at most the index and the bonus for what it pays, and no bonus that the account does not own. */
const checkCure: Check = ({ index }, before, after) => {
  const { usdc, cngn } = gain(before, after)
  expect(cngn <= 0n && usdc >= 0n, 'cNGN for USDC').to.equal(true)
  expect(usdc * index <= -cngn * CURE_RATE, 'no more than the rate').to.equal(true)
  const equity = before.account.usdc + cngnValue(before.account.cngn, index, E18)
  const bonus = usdc - (-cngn * ONE) / index
  expect(bonus <= 0n || bonus <= equity, 'no more than the account has').to.equal(true)
}

const gain = (before: Pair, after: Pair) => ({
  usdc: after.rescuer.usdc - before.rescuer.usdc,
  cngn: after.rescuer.cngn - before.rescuer.cngn,
})

/** A debt is not written off while its account has USDC that is worth it. */
async function refusesEarlyLoss(rescue: Rescue): Promise<void> {
  const { account } = await readPair(rescue)
  if (account.usdc * rescue.index + account.cngn * ONE < 0n) return
  const refused = await revertOf(rescue.world, lossCall(rescue))
  expect(refused === 'none' ? 'success' : revertName(refused)).to.be.oneOf([
    'FM_NoDebt',
    'FM_NotBankrupt',
  ])
}

const lossCall = ({ world, id }: Rescue) => callOf(world, KEEPER, 'manager', 'coverLoss', id)

/**
 * The account's USDC pays first, which the insurance buys at the index, then the insurance; each claim bears its part of the
 * rest, rounded against it by less than two units.
 */
async function coverLoss(rescue: Rescue): Promise<{ covered: boolean; shared: bigint }> {
  const { world, id, insurer, everyone, index } = rescue
  const ledgers = () => Promise.all(everyone.map((each) => variation(world, each)))
  const insurance = () => readWealth(world, insurer.subaccountId)
  const before = await ledgers()
  const insured = await insurance()
  const usdc = await balanceOf(world, id, world.at.wrapped_usdc)
  const paid = (usdc * index) / ONE
  const loss = -(await variation(world, id)) - paid
  const receipt = await receiptOf(world, await send(world, lossCall(rescue)))
  if (receipt.status !== 'success') return { covered: false, shared: 0n }
  const left = insured.wrapped > paid ? insured.wrapped - paid : 0n
  const fromInsurance = loss < left ? loss : left
  const shared = loss - fromInsurance
  const [event] = parseEventLogs({
    abi: futuresManagerAbi,
    logs: receipt.logs,
    eventName: 'LossShared',
  })
  expect(event?.args).to.deep.equal({ account: id, fromInsurance, fromClaims: shared })
  const insuredAfter = await insurance()
  expect(insuredAfter.cngn).to.equal(insured.cngn - paid - fromInsurance)
  expect(insuredAfter.usdc).to.equal(insured.usdc + usdc)
  const after = await ledgers()
  const claims = before.filter((each) => each > 0n).reduce((sum, each) => sum + each, 0n)
  for (const [i, was] of before.entries()) {
    const is = after[i] ?? 0n
    if (everyone[i] === insurer.subaccountId) continue
    if (everyone[i] === id) expect(is, 'the debt is ended').to.equal(0n)
    else if (was <= 0n) expect(is, 'other debts stay').to.equal(was)
    else {
      const short = was * (claims - shared) - is * claims
      expect(short >= 0n && short <= 2n * claims, 'a claim is cut in proportion').to.equal(true)
    }
  }
  return { covered: true, shared }
}

const variation = (world: FuturesWorld, id: bigint) =>
  ask<bigint>(world, 'manager', 'variation', id)

/** Both with their positions at the index. */
async function readPair({ world, id, rescuer, index, mark }: Rescue): Promise<Pair> {
  const read = async (accountId: bigint): Promise<Wealth> => {
    const wealth = await readWealth(world, accountId)
    const position = await positionOf(world, accountId)
    return { ...wealth, cngn: wealth.cngn + variationOf(position, mark, index) }
  }
  const [account, taker] = await Promise.all([read(id), read(rescuer.subaccountId)])
  return { account, rescuer: taker }
}

/** What an account has at the newest mark. */
export async function readWealth(world: FuturesWorld, id: bigint): Promise<Wealth> {
  const [usdc, wrapped, owed] = await Promise.all([
    balanceOf(world, id, world.at.wrapped_usdc),
    balanceOf(world, id, world.at.wrapped_cngn),
    variation(world, id),
  ])
  return { usdc, wrapped, cngn: wrapped + owed }
}
