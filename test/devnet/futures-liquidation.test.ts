import { expect } from 'chai'
import {
  encodeAbiParameters,
  encodeFunctionData,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
} from 'viem'
import { revertName } from '../../chain/abi/errors.js'
import type { Hex } from '../../core/action.js'
import { actionsCall, ONE, signAction, type ActionOverrides } from '../support/devnet-actions.js'
import { balanceOf, perform, revertOf, type Call, type Trader } from '../support/devnet-world.js'
import { argsOf } from '../support/event-args.js'
import {
  act,
  ask,
  INDEX,
  KEEPER,
  openFuturesWorld,
  openTraders,
  positionOf,
  setIndex,
  settleFill,
  timeOf,
  warpTo,
  type FuturesWorld,
} from '../support/futures-world.js'

const LIQUIDATION_DATA = parseAbiParameters([
  'FutureLiquidationData data',
  'struct FutureLiquidationData { uint256 accountId; uint256 subId; uint256 portion; uint256 worstPrice; }',
])
const EXECUTE = parseAbi([
  'struct VerifiedAction { uint256 subaccountId; address owner; address module; bytes data; uint256 nonce; }',
  'function executeAction(VerifiedAction[] actions, bytes actionData)',
])
const MILLI = 10n ** 15n

describe('a liquidation by a signed action', function () {
  let world: FuturesWorld
  let snapshot: Hex
  /** 10 contracts long with 1,100 USDC. */
  let long: Trader
  /** 6 contracts short with 700 USDC. */
  let short: Trader
  let other: Trader
  let taker: Trader

  before(async () => {
    world = await openFuturesWorld()
    const [a] = await openTraders(world, [11], { usdc: 1_100n * ONE, cngn: 0n })
    const [b] = await openTraders(world, [12], { usdc: 700n * ONE, cngn: 0n })
    const rich = { usdc: 10_000n * ONE, cngn: 5_000_000n * ONE }
    const [c, d] = await openTraders(world, [13, 14], rich)
    if (a === undefined || b === undefined || c === undefined || d === undefined)
      throw new Error('no traders')
    ;[long, short, other, taker] = [a, b, c, d]
    await setIndex(world, INDEX)
    await settleFill(world, { taker: long, maker: other, amount: 10n * ONE, price: INDEX })
    await settleFill(world, { taker: other, maker: short, amount: 6n * ONE, price: INDEX })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  async function move(price: bigint): Promise<void> {
    await warpTo(world, (await timeOf(world)) + 3_600)
    await setIndex(world, price)
    await act(world, KEEPER, 'asset', 'updateMark', world.subId, price)
  }

  interface Terms {
    readonly of: Trader
    readonly worstPrice: bigint
    readonly portion?: bigint
  }

  const sign = (
    { of, worstPrice, portion = ONE }: Terms,
    overrides: ActionOverrides = {},
    by: Trader = taker,
  ) => {
    const terms = { accountId: of.subaccountId, subId: world.subId, portion, worstPrice }
    const module = world.at.future_liquidation_module
    const data = encodeAbiParameters(LIQUIDATION_DATA, [terms])
    return signAction(world, by, data, { module, ...overrides })
  }
  const liquidation = async (terms: Terms, overrides: ActionOverrides = {}): Promise<Call> =>
    actionsCall(world, [await sign(terms, overrides)])
  const nameOf = async (call: Call): Promise<string> => {
    const data = await revertOf(world, call)
    return data === 'none' ? 'success' : revertName(data)
  }
  const usdcOf = ({ subaccountId }: Trader) => balanceOf(world, subaccountId, world.at.wrapped_usdc)
  const positionsOf = (...traders: readonly Trader[]) =>
    Promise.all(traders.map(({ subaccountId }) => positionOf(world, subaccountId)))

  it('takes a long over at no mark above the signed one, and gives the account back', async () => {
    const mark = 1_425n * ONE
    const terms = { of: long, worstPrice: mark }
    expect(await nameOf(await liquidation(terms))).to.equal('FM_AboveMaintenance')
    await move(mark)
    expect(await nameOf(await liquidation({ ...terms, worstPrice: mark - 1n }))).to.equal(
      'FL_PriceBeyondLimit',
    )
    const before = await usdcOf(taker)
    const call = await liquidation(terms)
    const receipt = await perform(world, call)
    const { abi } = world.artifacts.FuturesManager
    const [event] = parseEventLogs({ abi, eventName: 'PositionLiquidated', logs: receipt.logs })
    // 1100 − 1000 − 584.795321637426900586 = −484.80; 100 − 35 restore 65 a contract: 7.459; 35 each is the bonus.
    expect(argsOf(event)).to.deep.equal({
      account: long.subaccountId,
      subId: world.subId,
      by: taker.subaccountId,
      contracts: 7_459n * MILLI,
      price: mark,
      bonus: 261_065n * MILLI,
    })
    expect(await positionsOf(long, taker)).to.deep.equal([2_541n * MILLI, 7_459n * MILLI])
    expect((await usdcOf(taker)) - before).to.equal(261_065n * MILLI)
    const custody = { address: world.at.sub_accounts, abi: world.artifacts.SubAccounts.abi }
    const args = [taker.subaccountId]
    const owner = await world.client.readContract({ ...custody, functionName: 'ownerOf', args })
    expect(String(owner).toLowerCase()).to.equal(world.at.matching)
    expect(await nameOf(call)).to.equal('BM_NonceAlreadyUsed')
  })

  it('takes a short over at no mark below the signed one, also while paused', async () => {
    const mark = 1_575n * ONE
    await move(mark)
    const terms = { of: short, worstPrice: mark }
    expect(await nameOf(await liquidation({ ...terms, worstPrice: mark + 1n }))).to.equal(
      'FL_PriceBeyondLimit',
    )
    await act(world, world.at.deployer, 'manager', 'setAdjustmentsPaused', true)
    const before = await usdcOf(taker)
    await perform(world, await liquidation(terms))
    // 450,000 cNGN owed at 1575 / 0.9 = 317.460317460317460319; 700 − 600 − that = −217.46; / 65, up: 3.346; × 35.
    expect(await positionsOf(short, taker)).to.deep.equal([-2_654n * MILLI, -3_346n * MILLI])
    expect((await usdcOf(taker)) - before).to.equal(117_110n * MILLI)
    const left = await ask<bigint>(world, 'manager', 'getMargin', short.subaccountId, true)
    expect(left >= 0n && left < 65n * MILLI).to.equal(true)
  })

  it('leaves initial margin to the account that takes over', async () => {
    await move(1_425n * ONE)
    const [poor] = await openTraders(world, [15], { usdc: 100n * ONE, cngn: 0n })
    const terms = { of: long, worstPrice: INDEX }
    // 7.459 contracts need 745.9 USD, the bonus is 261.065; one needs 100 and brings 35.
    const all = actionsCall(world, [await sign(terms, {}, poor)])
    expect(await nameOf(all)).to.equal('SRM_PortfolioBelowMargin')
    await perform(
      world,
      actionsCall(world, [await sign({ ...terms, portion: ONE / 10n }, {}, poor)]),
    )
    expect(await positionsOf(long)).to.deep.equal([9n * ONE])
  })

  it('is refused of other callers, signers, accounts and numbers of actions', async () => {
    await move(1_425n * ONE)
    const terms = { of: long, worstPrice: INDEX }
    expect(await nameOf(await liquidation(terms, { signedBy: other.account }))).to.equal(
      'OV_InvalidSignature',
    )
    const foreign = { subaccountId: other.subaccountId }
    expect(await nameOf(await liquidation(terms, foreign))).to.equal('OV_InvalidActionOwner')
    expect(await nameOf(await liquidation(terms, { subaccountId: 0n }))).to.equal(
      'FL_InvalidFromAccount',
    )
    const two = [await sign(terms), await sign(terms)]
    expect(await nameOf(actionsCall(world, two))).to.equal('FL_InvalidActionLength')
    expect(await nameOf(await liquidation({ ...terms, of: taker }))).to.equal('FM_SameAccount')
    const data = encodeFunctionData({
      abi: EXECUTE,
      functionName: 'executeAction',
      args: [[], '0x'],
    })
    const direct = { from: taker.address, to: world.at.future_liquidation_module, data }
    expect(await nameOf(direct)).to.equal('BM_OnlyMatching')
  })
})
