import { expect } from 'chai'
import { decodeErrorResult, encodeFunctionData, maxUint256, parseEventLogs } from 'viem'
import {
  cashAssetAbi,
  erc20Abi,
  subAccountsAbi,
  wrappedErc20AssetAbi,
} from '../../chain/abi/contracts.js'
import { errorsAbi } from '../../chain/abi/errors.js'
import type { Address, Hex } from '../../core/action.js'
import {
  lower,
  openAccount,
  openWorld,
  perform,
  revertOf,
  type Call,
  type Trader,
  type World,
} from '../support/devnet-world.js'

const UNIT = 10n ** 12n
const NO_DATA: Hex = `0x${'00'.repeat(32)}`

/** The paying and the receiving account. */
type Route = readonly [from: bigint, to: bigint]

describe('accounts on chain', () => {
  let world: World
  let snapshot: Hex
  let ofAlice: bigint
  let ofBob: bigint

  before(async () => {
    world = await openWorld()
    const { spot_manager: manager } = world.at
    ofAlice = await openAccount(world, world.alice.address, manager)
    ofBob = await openAccount(world, world.bob.address, manager)
    for (const asset of [world.at.wrapped_usdc, world.at.wrapped_cngn]) {
      await deposit(world.alice, asset, ofAlice)
    }
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  /** Ten native units straight into the account. */
  async function deposit(trader: Trader, asset: Address, accountId: bigint): Promise<void> {
    const token = asset === world.at.wrapped_cngn ? world.at.cngn : world.at.usdc
    const approval = [asset, maxUint256] as const
    const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: approval })
    await perform(world, { from: trader.address, to: token, data: approve })
    const args = [accountId, 10n] as const
    const data = encodeFunctionData({ abi: wrappedErc20AssetAbi, functionName: 'deposit', args })
    await perform(world, { from: trader.address, to: asset, data })
  }

  function transfer(by: Trader, [from, to]: Route, units: bigint, asset?: Address): Call {
    const assetTransfer = {
      fromAcc: from,
      toAcc: to,
      asset: asset ?? world.at.wrapped_usdc,
      subId: 0n,
      amount: units * UNIT,
      assetData: NO_DATA,
    }
    const args = [assetTransfer, '0x'] as const
    const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'submitTransfer', args })
    return { from: by.address, to: world.at.sub_accounts, data }
  }

  async function allow(owner: Trader, accountId: bigint, positive: bigint, negative: bigint) {
    const allowance = {
      asset: world.at.wrapped_usdc,
      positive: positive * UNIT,
      negative: negative * UNIT,
    }
    const args = [accountId, world.carol.address, [allowance]] as const
    const data = encodeFunctionData({
      abi: subAccountsAbi,
      functionName: 'setAssetAllowances',
      args,
    })
    await perform(world, { from: owner.address, to: world.at.sub_accounts, data })
  }

  async function held(accountId: bigint): Promise<(readonly [Address, bigint])[]> {
    const { sub_accounts: address } = world.at
    const read = { address, abi: subAccountsAbi, args: [accountId] } as const
    const balances = await world.client.readContract({
      ...read,
      functionName: 'getAccountBalances',
    })
    const unique = await world.client.readContract({ ...read, functionName: 'getUniqueAssets' })
    expect(unique).to.deep.equal(balances.map((b) => b.asset))
    return balances.map((b) => [lower(b.asset), b.balance / UNIT])
  }

  /** What was asked of which account's consent, and what it had left. */
  async function shortfall(call: Call): Promise<readonly unknown[]> {
    const data = await revertOf(world, call)
    if (data === 'none') throw new Error('the transfer succeeded')
    const error = decodeErrorResult({ abi: errorsAbi, data })
    if (error.errorName !== 'NotEnoughSubIdOrAssetAllowances') throw new Error(error.errorName)
    const [, accountId, amount, , left] = error.args
    return [accountId, amount / UNIT, left / UNIT]
  }

  it('list what they hold, and nothing that went to zero', async () => {
    const { wrapped_usdc: usdc, wrapped_cngn: cngn } = world.at
    await allowAll(world.bob, ofBob)
    expect(await held(ofAlice)).to.deep.equal([
      [usdc, 10n],
      [cngn, 10n],
    ])
    await perform(world, transfer(world.alice, [ofAlice, ofBob], 10n))
    expect(await held(ofAlice)).to.deep.equal([[cngn, 10n]])
    await perform(world, transfer(world.alice, [ofAlice, ofBob], 4n, cngn))
    expect(await held(ofAlice)).to.deep.equal([[cngn, 6n]])
    await perform(world, transfer(world.alice, [ofAlice, ofBob], 6n, cngn))
    expect(await held(ofAlice)).to.deep.equal([])
    expect(await held(ofBob)).to.deep.equal([
      [usdc, 10n],
      [cngn, 10n],
    ])
  })

  async function allowAll(owner: Trader, accountId: bigint): Promise<void> {
    const args = [world.alice.address, accountId] as const
    const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'approve', args })
    await perform(world, { from: owner.address, to: world.at.sub_accounts, data })
  }

  it('tell of each change with asset, amount and both balances', async () => {
    await allowAll(world.bob, ofBob)
    const { logs } = await perform(world, transfer(world.alice, [ofAlice, ofBob], 3n))
    const [paid, received] = parseEventLogs({
      abi: subAccountsAbi,
      eventName: 'BalanceAdjusted',
      logs,
    }).map((log) => log.args)
    const key = `${world.at.wrapped_usdc}${'00'.repeat(12)}`
    expect(paid).to.include({ accountId: ofAlice, assetAndSubId: key, amount: -3n * UNIT })
    expect(paid).to.include({ preBalance: 10n * UNIT, postBalance: 7n * UNIT })
    expect(received).to.include({ accountId: ofBob, preBalance: 0n, postBalance: 3n * UNIT })
  })

  it('let a delegate take and give as far as both owners consented', async () => {
    const { carol } = world
    const move = (units: bigint) => transfer(carol, [ofAlice, ofBob], units)
    expect(await shortfall(move(3n))).to.deep.equal([ofAlice, -3n, 0n])
    await allow(world.alice, ofAlice, 0n, 5n)
    expect(await shortfall(move(3n))).to.deep.equal([ofBob, 3n, 0n])
    await allow(world.bob, ofBob, 9n, 0n)
    await perform(world, move(3n))
    expect(await shortfall(move(3n))).to.deep.equal([ofAlice, -3n, 2n])
    await perform(world, move(2n))
    expect(await shortfall(transfer(carol, [ofBob, ofAlice], 1n))).to.deep.equal([ofBob, -1n, 0n])
  })

  it('void the consent of a former owner when they are sold', async () => {
    await allow(world.alice, ofAlice, 0n, 5n)
    await allow(world.bob, ofBob, 5n, 0n)
    expect(await revertOf(world, transfer(world.carol, [ofAlice, ofBob], 1n))).to.equal('none')
    const args = [world.alice.address, world.bob.address, ofAlice] as const
    const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'transferFrom', args })
    await perform(world, { from: world.alice.address, to: world.at.sub_accounts, data })
    const sold = transfer(world.carol, [ofAlice, ofBob], 1n)
    expect(await shortfall(sold)).to.deep.equal([ofAlice, -1n, 0n])
  })

  it('make up the supply of cash', async () => {
    const { cash_asset: address, perp_manager: manager } = world.at
    const first = await openAccount(world, world.alice.address, manager)
    const second = await openAccount(world, world.alice.address, manager)
    const read = { address, abi: cashAssetAbi } as const
    const total = () => world.client.readContract({ ...read, functionName: 'totalSupply' })
    const before = await total()
    const supply = async () => (await total()) - before
    for (const accountId of [first, second]) await deposit(world.alice, address, accountId)
    expect(await supply()).to.equal(20n * UNIT)
    const args = [first, 4n, world.alice.address] as const
    const data = encodeFunctionData({ abi: cashAssetAbi, functionName: 'withdraw', args })
    await perform(world, { from: world.alice.address, to: address, data })
    expect(await supply()).to.equal(16n * UNIT)
    expect(await world.client.readContract({ ...read, functionName: 'totalBorrow' })).to.equal(0n)
  })
})
