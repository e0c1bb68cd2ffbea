import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { managerAbi, matchingAbi, subAccountsAbi } from '../../../chain/abi/contracts.js'
import type { Address } from '../../../core/action.js'
import { actionsCall, signDeposit } from '../../support/devnet-actions.js'
import {
  balanceOf,
  newAccount,
  openAccount,
  perform,
  type Trader,
} from '../../support/devnet-world.js'
import { TEN, walletOf, withdrawalBody } from './requests.js'
import {
  approve,
  freshOwner,
  PURSE,
  recordIn,
  refusalIn,
  startWithdrawals,
  transferStage,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

const E18_PER_UNIT = 10n ** 12n
const UINT256_MAX = 2n ** 256n - 1n

describe('withdrawal submitter', () => {
  let stage: TransferStage
  let withdrawals: TestSubmitter
  /** Holds 1,000 USDC in its spot account. */
  let owner: Trader
  let usdc: Address

  before(async function () {
    stage = await transferStage()
    usdc = stage.world.at.wrapped_usdc
    withdrawals = await startWithdrawals(stage)
  })
  beforeEach(async () => {
    owner = await fundedOwner()
  })
  after(() => withdrawals.end())

  async function fundedOwner(): Promise<Trader> {
    const { world } = stage
    const fresh = await freshOwner(stage)
    const trader = { ...fresh, subaccountId: await newAccount(world, fresh) }
    await approve(stage, trader.address, PURSE)
    const signed = await signDeposit(world, trader, { amount: PURSE, asset: usdc })
    await perform(world, actionsCall(world, [signed]))
    return trader
  }

  const sent = () => stage.world.client.getTransactionCount({ address: withdrawals.address })
  const held = (asset = usdc) => balanceOf(stage.world, owner.subaccountId, asset)
  const wallet = (token = stage.world.at.usdc) => walletOf(stage.world, token, owner.address)

  it('pays wrapped USDC out to the owner, to the last unit, once for all who ask (TRA-036)', async () => {
    const body = await withdrawalBody(stage.world, owner, { asset: usdc, amount: 1_234_567n })
    const before = await sent()
    const answers = await Promise.all(Array.from({ length: 50 }, () => withdrawals.ask(body)))
    const settled = answers.map(recordIn).find(({ status }) => status === 'confirmed')
    const { subaccountId } = owner
    expect(settled).to.include({ amount: 1_234_567n, subaccountId, asset: usdc })
    expect((await sent()) - before).to.equal(1)
    expect(await wallet()).to.equal(1_234_567n)
    expect(await held()).to.equal((PURSE - 1_234_567n) * E18_PER_UNIT)
    expect(recordIn(await withdrawals.ask(body))).to.deep.equal(settled)
    expect(await wallet()).to.equal(1_234_567n)
  })

  it('pays wrapped cNGN and cash as well (TRA-038)', async () => {
    const { world } = stage
    const cngn = world.at.wrapped_cngn
    const fromAlice = await withdrawalBody(world, world.alice, { asset: cngn, amount: 7n })
    const before = await walletOf(world, world.at.cngn, world.alice.address)
    expect(recordIn(await withdrawals.ask(fromAlice)).status).to.equal('confirmed')
    expect(await walletOf(world, world.at.cngn, world.alice.address)).to.equal(before + 7n)

    const cashier = await withCash(3n * TEN)
    const body = await withdrawalBody(world, cashier, { asset: world.at.cash_asset, amount: TEN })
    const purse = await walletOf(world, world.at.usdc, cashier.address)
    expect(recordIn(await withdrawals.ask(body)).status).to.equal('confirmed')
    expect(await walletOf(world, world.at.usdc, cashier.address)).to.equal(purse + TEN)
    const left = await balanceOf(world, cashier.subaccountId, world.at.cash_asset)
    expect(left).to.equal(2n * TEN * E18_PER_UNIT)
    const more = { asset: world.at.cash_asset, amount: 2n * TEN + 1n }
    const refusal = refusalIn(await withdrawals.ask(await withdrawalBody(world, cashier, more)))
    expect(refusal).to.include({ status: 422, revert: 'SRM_NoNegativeCash' })
  })

  /** An owner with a perp account that holds cash. */
  async function withCash(amount: bigint): Promise<Trader> {
    const { world } = stage
    const fresh = await freshOwner(stage)
    await approve(stage, fresh.address, amount)
    const manager = world.at.perp_manager
    const signed = await signDeposit(
      world,
      fresh,
      { amount, asset: world.at.cash_asset, manager },
      { subaccountId: 0n },
    )
    await perform(world, actionsCall(world, [signed]))
    const subaccountId = await world.client.readContract({
      address: world.at.sub_accounts,
      abi: subAccountsAbi,
      functionName: 'lastAccountId',
    })
    return { ...fresh, subaccountId }
  }

  it('refuses the wrong form (TRA-003)', async () => {
    const { world } = stage
    const terms = { asset: usdc, amount: 1n }
    const rows = [
      ['must not be 0', withdrawalBody(world, owner, terms, { subaccountId: 0n })],
      ['greater than 0', withdrawalBody(world, owner, { ...terms, amount: 0n })],
      ['exactly 64 bytes', withdrawalBody(world, owner, terms, { data: `0x${'0'.repeat(64)}` })],
      ['is not withdrawable', withdrawalBody(world, owner, { ...terms, asset: world.at.usdc })],
      ['session-key', withdrawalBody(world, owner, terms, { signer: world.bob.address })],
      ['expired', withdrawalBody(world, owner, terms, { expiry: 1n })],
      ['withdrawal module', withdrawalBody(world, owner, terms, { module: world.at.matching })],
    ] as const
    for (const [words, body] of rows) {
      const { status, message } = refusalIn(await withdrawals.ask(await body))
      expect(status, words).to.equal(400)
      expect(message).to.include(words)
    }
    const unsigned = withdrawalBody(world, owner, terms, { signedBy: world.bob.account })
    expect(refusalIn(await withdrawals.ask(await unsigned)).status).to.equal(401)
  })

  it("refuses another owner's account, and one that matching does not hold (TRA-037)", async () => {
    const { world } = stage
    const terms = { asset: usdc, amount: 1n }
    const { subaccountId } = world.bob
    const strange = await withdrawalBody(world, owner, terms, { subaccountId })
    expect(refusalIn(await withdrawals.ask(strange)).status).to.equal(403)
    const kept = await openAccount(world, owner.address, world.at.spot_manager)
    const free = await withdrawalBody(world, owner, terms, { subaccountId: kept })
    const outside = { status: 400, field: 'action.subaccount_id' }
    expect(refusalIn(await withdrawals.ask(free))).to.include(outside)
    const nothing = await withdrawalBody(world, owner, terms, { subaccountId: 999_999n })
    expect(refusalIn(await withdrawals.ask(nothing))).to.include(outside)
  })

  it('names an over-withdrawal alike, whichever contract refuses it first (TRA-040)', async () => {
    for (const amount of [PURSE + 1n, 10n ** 30n, UINT256_MAX]) {
      const body = await withdrawalBody(stage.world, owner, { asset: usdc, amount })
      const refusal = refusalIn(await withdrawals.ask(body))
      expect(refusal).to.include({ status: 422, revert: 'WERC_CannotBeNegative' })
    }
    expect(await held()).to.equal(PURSE * E18_PER_UNIT)
  })

  it('refuses a nonce that is spent (TRA-017)', async () => {
    const { world } = stage
    const nonce = { nonce: 815n }
    const first = await withdrawalBody(world, owner, { asset: usdc, amount: 1n }, nonce)
    expect(recordIn(await withdrawals.ask(first)).status).to.equal('confirmed')
    const second = await withdrawalBody(world, owner, { asset: usdc, amount: 2n }, nonce)
    const refusal = refusalIn(await withdrawals.ask(second))
    expect(refusal).to.include({ status: 400, code: 'nonce_spent' })
  })

  it('takes a withdrawal again that a pause had refused (TRA-010)', async () => {
    const { world } = stage
    const pause = (paused: boolean) => {
      const call = {
        abi: managerAbi,
        functionName: 'setAdjustmentsPaused',
        args: [paused],
      } as const
      const data = encodeFunctionData(call)
      return perform(world, { from: world.at.deployer, to: world.at.spot_manager, data })
    }
    const body = await withdrawalBody(world, owner, { asset: usdc, amount: 1n })
    await pause(true)
    try {
      const refusal = refusalIn(await withdrawals.ask(body))
      expect(refusal).to.include({ status: 422, revert: 'BM_AdjustmentsPaused' })
    } finally {
      await pause(false)
    }
    expect(recordIn(await withdrawals.ask(body)).status).to.equal('confirmed')
  })

  it('takes five requests a minute (TRA-041)', async () => {
    const ask = async (amount: bigint) =>
      withdrawals.ask(await withdrawalBody(stage.world, owner, { asset: usdc, amount }))
    for (let i = 0; i < 5; i += 1) expect(recordIn(await ask(1n)).status).to.equal('confirmed')
    const sixth = refusalIn(await ask(1n))
    expect(sixth).to.include({ status: 429, code: 'too_many_withdrawal_requests' })
    expect(await wallet()).to.equal(5n)
  })

  it('does not pay from an account that left', async () => {
    const { world } = stage
    const call = async (functionName: 'requestWithdrawAccount' | 'completeWithdrawAccount') => {
      const args = [owner.subaccountId] as const
      const data = encodeFunctionData({ abi: matchingAbi, functionName, args })
      await perform(world, { from: owner.address, to: world.at.matching, data })
    }
    const snapshot = await world.client.snapshot()
    await call('requestWithdrawAccount')
    await world.client.increaseTime({ seconds: 1_801 })
    await call('completeWithdrawAccount')
    const expiry = BigInt(Math.floor(Date.now() / 1_000) + 3_000)
    const terms = { asset: usdc, amount: 1n }
    const body = await withdrawalBody(world, owner, terms, { expiry })
    expect(refusalIn(await withdrawals.ask(body)).status).to.equal(400)
    await world.client.revert({ id: snapshot })
  })
})
