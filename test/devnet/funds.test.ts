import { expect } from 'chai'
import {
  encodeErrorResult,
  encodeFunctionData,
  maxUint256,
  parseAbi,
  parseEventLogs,
  parseSignature,
} from 'viem'
import {
  depositModuleAbi,
  erc20Abi,
  matchingAbi,
  wrappedErc20AssetAbi,
} from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { ANVIL_CHAIN_ID } from '../support/anvil.js'
import { actionsCall, depositCall, signDeposit, signWithdrawal } from '../support/devnet-actions.js'
import {
  balanceOf,
  lastAccountId,
  openWorld,
  perform,
  revertOf,
  type Call,
  type World,
} from '../support/devnet-world.js'

const UNIT = 10n ** 12n
/** 1,000,000 USDC: what each trader's wallet and account hold. */
const ALL_USDC = 1_000_000_000_000n

describe('funds on chain', () => {
  let world: World
  let snapshot: Hex

  before(async () => {
    world = await openWorld()
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  function wallet(owner: Address): Promise<bigint> {
    return world.client.readContract({
      address: world.at.usdc,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [owner],
    })
  }

  async function approve(): Promise<void> {
    const args = [world.at.deposit_module, maxUint256] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    await perform(world, { from: world.alice.address, to: world.at.usdc, data })
  }

  /** Alice's permit for the deposit module; any account may send it. */
  async function permit(value: bigint, deadline: bigint): Promise<Call> {
    const { alice, at } = world
    const domain = { name: 'USD Coin', version: '2', chainId: ANVIL_CHAIN_ID }
    const signature = await alice.account.signTypedData({
      domain: { ...domain, verifyingContract: at.usdc },
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      message: { owner: alice.address, spender: at.deposit_module, value, nonce: 0n, deadline },
    })
    const { r, s, yParity } = parseSignature(signature)
    const args = [alice.address, at.deposit_module, value, deadline, 27 + yParity, r, s] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'permit', args })
    return { from: world.executor, to: at.usdc, data }
  }

  it('a deposit turns native units into 1e12 times as much balance (MON-023)', async () => {
    await approve()
    const { alice, at } = world
    const before = await balanceOf(world, alice.subaccountId, at.wrapped_usdc)
    const signed = await signDeposit(world, alice, { amount: 5_000_001n, asset: at.wrapped_usdc })
    const receipt = await perform(world, actionsCall(world, [signed]))
    const after = await balanceOf(world, alice.subaccountId, at.wrapped_usdc)
    expect(after - before).to.equal(5_000_001n * UNIT)
    expect(await wallet(alice.address)).to.equal(ALL_USDC - 5_000_001n)
    const [used] = parseEventLogs({
      abi: depositModuleAbi,
      eventName: 'NonceUsed',
      logs: receipt.logs,
    })
    expect(used?.args.nonce).to.equal(signed.action.nonce)
    const [minted] = parseEventLogs({
      abi: wrappedErc20AssetAbi,
      eventName: 'Deposit',
      logs: receipt.logs,
    })
    expect(minted?.args.amountAssetMinted).to.equal(5_000_001n * UNIT)
    expect(minted?.args.wrappedAssetDeposited).to.equal(5_000_001n)
  })

  it('a deposit without account opens one that Matching holds for the owner', async () => {
    await approve()
    const { alice, at } = world
    const deposit = { amount: 7n, asset: at.wrapped_usdc }
    const call = await depositCall(world, alice, deposit, { subaccountId: 0n })
    const { logs } = await perform(world, call)
    const [opened] = parseEventLogs({ abi: matchingAbi, eventName: 'DepositedSubAccount', logs })
    if (opened === undefined) throw new Error('no account was opened')
    expect(opened.args.owner.toLowerCase()).to.equal(alice.address)
    expect(await balanceOf(world, opened.args.accountId, at.wrapped_usdc)).to.equal(7n * UNIT)
    const recorded = await world.client.readContract({
      address: at.matching,
      abi: matchingAbi,
      functionName: 'subAccountToOwner',
      args: [opened.args.accountId],
    })
    expect(recorded.toLowerCase()).to.equal(alice.address)
  })

  it('the largest amount means the whole wallet', async () => {
    await approve()
    const { alice, at } = world
    await perform(
      world,
      await depositCall(world, alice, { amount: maxUint256, asset: at.wrapped_usdc }),
    )
    expect(await wallet(alice.address)).to.equal(0n)
    expect(await balanceOf(world, alice.subaccountId, at.wrapped_usdc)).to.equal(
      2n * ALL_USDC * UNIT,
    )
  })

  it('an owner opens and funds an account that Matching holds, in a transaction of its own', async () => {
    const { alice, at } = world
    const { sub_account_creator: creator, cash_asset: cash, perp_manager: manager } = at
    const allowance = [creator, 5_000_000n] as const
    const approval = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: allowance })
    await perform(world, { from: alice.address, to: at.usdc, data: approval })
    const abi = parseAbi([
      'function createAndDepositSubAccount(address,uint256,address) returns (uint256)',
    ])
    const args = [cash, 5_000_000n, manager] as const
    const data = encodeFunctionData({ abi, functionName: 'createAndDepositSubAccount', args })
    const { logs } = await perform(world, { from: alice.address, to: creator, data })
    const [event] = parseEventLogs({ abi: matchingAbi, eventName: 'DepositedSubAccount', logs })
    const id = await lastAccountId(world)
    expect(event?.args).to.deep.equal({ accountId: id, owner: alice.account.address })
    expect(await balanceOf(world, id, cash)).to.equal(5n * 10n ** 18n)
    expect(await wallet(alice.address)).to.equal(ALL_USDC - 5_000_000n)
    const action = await signWithdrawal(
      world,
      alice,
      { asset: cash, assetAmount: 5_000_000n },
      { subaccountId: id },
    )
    await perform(world, actionsCall(world, [action]))
    expect(await wallet(alice.address)).to.equal(ALL_USDC)
  })

  it('a withdrawal pays the owner and spends its nonce', async () => {
    const { alice, at } = world
    const withdrawal = { asset: at.wrapped_usdc, assetAmount: 3n }
    const call = actionsCall(world, [await signWithdrawal(world, alice, withdrawal)])
    await perform(world, call)
    expect(await wallet(alice.address)).to.equal(ALL_USDC + 3n)
    expect(await balanceOf(world, alice.subaccountId, at.wrapped_usdc)).to.equal(
      (ALL_USDC - 3n) * UNIT,
    )
    expect(await revertOf(world, call)).to.equal('0xdfad89e3')
  })

  it('a permit sent by another account allows the deposit', async () => {
    const { alice, at } = world
    const call = await depositCall(world, alice, { amount: 9n, asset: at.wrapped_usdc })
    expect(await revertOf(world, call)).to.match(/^0xfb8f41b2/)
    await perform(world, await permit(9n, maxUint256))
    await perform(world, call)
    expect(await wallet(alice.address)).to.equal(ALL_USDC - 9n)
  })

  it('a permit works once, before its deadline, and as signed', async () => {
    const good = await permit(9n, maxUint256)
    const altered = { ...good, data: good.data.replace(/09(?=f{64})/, '0a') as Hex }
    expect(altered.data).to.not.equal(good.data)
    expect(await text(altered)).to.equal('EIP2612: invalid signature')
    expect(await text(await permit(9n, 1n))).to.equal('FiatTokenV2: permit is expired')
    await perform(world, good)
    expect(await text(good)).to.equal('EIP2612: invalid signature')
  })

  it('only minters print tokens', async () => {
    const mint = parseAbi(['function mint(address to, uint256 amount)', 'error OnlyMinter()'])
    const args = [world.alice.address, 1n] as const
    const data = encodeFunctionData({ abi: mint, functionName: 'mint', args })
    const by = (from: Address) => revertOf(world, { from, to: world.at.usdc, data })
    expect(await by(world.at.deployer)).to.equal('none')
    expect(await by(world.alice.address)).to.equal(
      encodeErrorResult({ abi: mint, errorName: 'OnlyMinter' }),
    )
  })

  async function text(call: Call): Promise<string> {
    const data = await revertOf(world, call)
    if (data === 'none') return 'success'
    const length = Number.parseInt(data.slice(2 + 8 + 64, 2 + 8 + 128), 16)
    return Buffer.from(data.slice(2 + 8 + 128), 'hex')
      .subarray(0, length)
      .toString()
  }
})
