import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { managerAbi } from '../../../chain/abi/contracts.js'
import type { Address, Hex } from '../../../core/action.js'
import { newAccount, perform, type Trader } from '../../support/devnet-world.js'
import { startRpcProxy } from '../../support/rpc-proxy.js'
import { depositBody, signPermit, TEN, walletOf, type SentRequest } from './requests.js'
import {
  approve,
  freshExecutor,
  freshOwner,
  PURSE,
  recordIn,
  refusalIn,
  startDeposits,
  transferStage,
  type SubmitterSetup,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

const UINT256_MAX = 2n ** 256n - 1n
const inSec = (seconds: number): bigint => BigInt(Math.floor(Date.now() / 1_000) + seconds)

describe('deposits that are refused', () => {
  let stage: TransferStage
  let deposits: TestSubmitter
  let owner: Trader

  before(async function () {
    stage = await transferStage()
    deposits = await startDeposits(stage)
  })
  beforeEach(async () => {
    owner = await freshOwner(stage)
    await approve(stage, owner.address, PURSE)
  })
  after(() => deposits.end())

  const sent = () => stage.world.client.getTransactionCount({ address: deposits.address })

  /** The refusal of a request that must not cost a transaction or a token. */
  async function refused(body: SentRequest) {
    const before = await sent()
    const refusal = refusalIn(await deposits.ask(body))
    expect(await sent()).to.equal(before)
    expect(await walletOf(stage.world, stage.world.at.usdc, owner.address)).to.equal(PURSE)
    return refusal
  }

  it('for their form, with advice', async () => {
    const { world } = stage
    const { at } = world
    const elsewhere: Address = `0x${'ab'.repeat(20)}`
    const rows: [string, Promise<SentRequest>][] = [
      ['action.module must be', depositBody(world, owner, {}, { module: at.withdrawal_module })],
      ['session-key deposits', depositBody(world, owner, {}, { signer: elsewhere })],
      ['action has expired', depositBody(world, owner, {}, { expiry: inSec(-1) })],
      ['at most one hour ahead', depositBody(world, owner, {}, { expiry: inSec(3_700) })],
      ['exactly 96 bytes', depositBody(world, owner, {}, { data: `0x${'00'.repeat(64)}` })],
      ['exactly 96 bytes', depositBody(world, owner, {}, { data: `0x${'00'.repeat(128)}` })],
      ['is not depositable', depositBody(world, owner, { asset: at.wrapped_usdc })],
      ['max sentinel', depositBody(world, owner, { amount: UINT256_MAX })],
      ['below the minimum', depositBody(world, owner, { amount: TEN - 1n })],
      ['under the perp risk manager', depositBody(world, owner, { manager: at.spot_manager })],
    ]
    for (const [words, body] of rows) {
      const { status, message } = await refused(await body)
      expect(status, words).to.equal(400)
      expect(message).to.include(words)
    }
  })

  it('for a signature that does not authorize them (TRA-013)', async () => {
    const body = await depositBody(stage.world, owner, {}, { signedBy: stage.world.bob.account })
    const wrong = await refused(body)
    expect(wrong).to.include({ status: 401 })
    expect(wrong.detail).to.include({ recovered: stage.world.bob.address, expected: owner.address })
  })

  it('for the malleable twin of a signature, which leaves no record and no lock', async () => {
    const body = await depositBody(stage.world, owner)
    const tail = body.signature.slice(-2) === '1b' ? '00' : '01'
    const twin = { ...body, signature: `${body.signature.slice(0, -2)}${tail}` as Hex }
    expect(await refused(twin)).to.include({ status: 401 })
    expect(recordIn(await deposits.ask(body)).status).to.equal('confirmed')
  })

  it('for a nonce that is spent (TRA-017)', async () => {
    const { world } = stage
    const body = await depositBody(world, owner, {}, { nonce: 4_711n })
    expect(recordIn(await deposits.ask(body)).status).to.equal('confirmed')
    const again = await depositBody(world, owner, { amount: 2n * TEN }, { nonce: 4_711n })
    const refusal = refusalIn(await deposits.ask(again))
    expect(refusal).to.include({ status: 400, code: 'nonce_spent' })
  })

  it("for another owner's account, and one that is not a perp account (TRA-028)", async () => {
    const { world } = stage
    const strange = await depositBody(world, owner, {}, { subaccountId: world.bob.subaccountId })
    expect(await refused(strange)).to.include({ status: 400, code: 'subaccount_not_owned' })
    const spot = await newAccount(world, owner)
    const body = await depositBody(world, owner, {}, { subaccountId: spot })
    expect(await refused(body)).to.include({ status: 400, code: 'not_a_perp_account' })
  })

  it('for too little in the wallet (TRA-029)', async () => {
    const body = await depositBody(stage.world, owner, { amount: PURSE + 1n })
    const refusal = await refused(body)
    expect(refusal).to.include({ status: 400, code: 'insufficient_balance' })
    expect(refusal.message).to.include('holds 1000 USDC')
  })

  it('for too little allowance (TRA-029)', async () => {
    await approve(stage, owner.address, TEN - 1n)
    const refusal = await refused(await depositBody(stage.world, owner))
    expect(refusal).to.include({ status: 400, code: 'insufficient_allowance' })
    expect(refusal.message).to.include('9.999999 USDC')
  })

  it('for a permit that is too small, expired, or for another spender (TRA-031)', async () => {
    const { world } = stage
    await approve(stage, owner.address, 0n)
    const small = await signPermit(world, owner, TEN - 1n)
    const old = await signPermit(world, owner, TEN, { deadline: inSec(-5) })
    const strange = await signPermit(world, owner, TEN, { spender: world.at.withdrawal_module })
    const rows = [
      [small, 'permit_too_small'],
      [old, 'permit_expired'],
      [strange, 'permit_refused'],
    ] as const
    for (const [permit, code] of rows) {
      const refusal = await refused(await depositBody(world, owner, { permit }))
      expect(refusal).to.include({ status: 400, code })
    }
  })

  it('takes a rejected deposit again, with another permit (TRA-010)', async () => {
    const { world } = stage
    await approve(stage, owner.address, 0n)
    const bad = await signPermit(world, owner, TEN, { spender: world.at.withdrawal_module })
    const body = await depositBody(world, owner, { permit: bad })
    const refusal = await refused(body)
    expect(refusal.revert).to.equal('Error: EIP2612: invalid signature')
    const good = await signPermit(world, owner, TEN)
    const record = recordIn(await deposits.ask({ ...body, permit: good }))
    expect(record).to.include({ status: 'confirmed' })
    expect(record).to.not.have.property('error')
  })

  it('while the manager is paused: 422 with the revert, and a permit costs nothing either (TRA-018)', async () => {
    const { world } = stage
    const pause = (paused: boolean) => {
      const call = {
        abi: managerAbi,
        functionName: 'setAdjustmentsPaused',
        args: [paused],
      } as const
      const data = encodeFunctionData(call)
      return perform(world, { from: world.at.deployer, to: world.at.perp_manager, data })
    }
    const body = await depositBody(world, owner)
    await pause(true)
    try {
      const refusal = await refused(body)
      expect(refusal).to.include({ status: 422, revert: 'BM_AdjustmentsPaused' })
      await approve(stage, owner.address, 0n)
      const permit = await signPermit(world, owner, TEN)
      const withPermit = await refused(await depositBody(world, owner, { permit }))
      expect(withPermit).to.include({ status: 422, revert: 'BM_AdjustmentsPaused' })
    } finally {
      await pause(false)
      await approve(stage, owner.address, TEN)
    }
    expect(recordIn(await deposits.ask(body)).status).to.equal('confirmed')
  })

  describe('by a submitter of its own', () => {
    let other: TestSubmitter
    beforeEach(() => deposits.stop())
    afterEach(async () => {
      await other.end()
      const { dataDir, privateKey } = deposits
      deposits = await startDeposits(stage, { dataDir, privateKey })
    })
    const begin = async (setup: SubmitterSetup) => (other = await startDeposits(stage, setup))

    it('when the wallet is below its reserve, and says which (TRA-019)', async () => {
      const privateKey = await freshExecutor(stage, 10n ** 16n)
      await begin({ privateKey, reserveWei: 10n ** 16n })
      const refusal = refusalIn(await other.ask(await depositBody(stage.world, owner)))
      expect(refusal).to.include({ status: 503 })
      expect(refusal.message).to.include('reserve')
      expect((await other.gas()).paused).to.equal('gas_reserve')
    })

    it("when the hour's gas is spent, and says which, after a restart as well (TRA-019)", async () => {
      const privateKey = await freshExecutor(stage)
      const first = await startDeposits(stage, { privateKey })
      recordIn(await first.ask(await depositBody(stage.world, owner)))
      const { hourSpentWei } = await first.gas()
      await first.stop()
      await begin({ privateKey, dataDir: first.dataDir, hourBudgetWei: hourSpentWei })
      const refusal = refusalIn(await other.ask(await depositBody(stage.world, owner)))
      expect(refusal).to.include({ status: 503 })
      expect(refusal.message).to.include('budget')
      expect((await other.gas()).paused).to.equal('gas_budget')
    })

    it('when the chain cannot be asked about the signer, the nonce or the wallet (TRA-016)', async () => {
      const proxy = await startRpcProxy(stage.world.anvil.rpcUrl)
      await begin({ rpcUrl: proxy.rpcUrl })
      const body = await depositBody(stage.world, owner)
      for (const method of ['eth_getCode', 'eth_call', 'eth_estimateGas']) {
        proxy.fateOf = (asked) => (asked === method ? 'lose' : 'pass')
        const refusal = refusalIn(await other.ask(body))
        expect(refusal, method).to.include({ status: 503, code: 'chain_unreadable' })
        // The breaker leaves a silent node alone for a second.
        proxy.fateOf = () => 'pass'
        await new Promise((resolve) => setTimeout(resolve, 1_100))
      }
      const address = other.address
      expect(await stage.world.client.getTransactionCount({ address })).to.equal(0)
      await other.stop()
      await proxy.stop()
      await begin({ dataDir: other.dataDir, privateKey: other.privateKey })
      expect(recordIn(await other.ask(body)).status).to.equal('confirmed')
    })
  })
})
