import { expect } from 'chai'
import { parseAbiItem } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { CRASH_POINTS } from '../../core/crash-point.js'
import type { Hex } from '../../core/action.js'
import { actionsCall, signDeposit } from '../support/devnet-actions.js'
import { balanceOf, newAccount, perform } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { submitterProcess } from '../support/submitter-process.js'
import type { SubmitterProcess } from '../support/submitter-process.js'
import {
  PURSE,
  approve,
  asksOf,
  freshOwner,
  recordIn,
  transferStage,
} from '../support/transfer-stage.js'
import type { TransferStage } from '../support/transfer-stage.js'
import {
  TEN,
  depositBody,
  signPermit,
  walletOf,
  withdrawalBody,
} from '../support/transfer-requests.js'
import type { SentRequest } from '../support/transfer-requests.js'

const REPEATS = 200
const SETTLES_WITHIN_MS = 30_000
const NONCE_USED = parseAbiItem('event NonceUsed(address indexed owner, uint256 nonce)')

/** Where it dies, and before that, so that there is something to recover from. */
const ROWS: readonly (readonly [point: string, before?: string])[] = [
  ['transfer.after_claim'],
  ['transfer.after_simulate'],
  ['transfer.after_permit_sent'],
  ['transfer.after_permit_mined'],
  ['transfer.after_receipt_before_mark'],
  ['transfer.in_mark'],
  ['transfer.after_mark_before_answer'],
  ['transfer.recovery_mid', 'transfer.after_claim'],
  // The first passing is the permit's, the second the deposit's.
  ['lane.in_commit:2'],
  ['lane.after_commit_before_broadcast'],
  ['lane.after_commit_before_broadcast:2'],
  ['lane.during_broadcast:2'],
  ['lane.after_receipt_before_mark:2'],
]

describe('a submitter that is killed', function () {
  this.timeout(60_000)
  let stage: TransferStage
  let submitter: SubmitterProcess | undefined
  before(async () => {
    stage = await transferStage()
  })
  afterEach(() => submitter?.end())

  const sent = (key: Hex) =>
    stage.world.client.getTransactionCount({ address: privateKeyToAddress(key) })
  const spent = (address: Hex, owner: Hex) =>
    stage.world.client.getLogs({ address, event: NONCE_USED, args: { owner }, fromBlock: 0n })

  /** Everybody asks at once; whoever asked a process that died has no answer. */
  function askAll(kind: 'deposit' | 'withdrawal', body: SentRequest): void {
    const { ask } = asksOf(stage, kind)
    for (let i = 0; i < REPEATS; i += 1) ask(body).catch(() => undefined)
  }

  async function confirmed(kind: 'deposit' | 'withdrawal', body: SentRequest) {
    askAll(kind, body)
    await eventually(async () => {
      expect(recordIn(await asksOf(stage, kind).ask(body)).status).to.equal('confirmed')
    }, SETTLES_WITHIN_MS)
    return recordIn(await asksOf(stage, kind).ask(body))
  }

  it('is killed at each of its points', () => {
    const own = CRASH_POINTS.filter((point) => point.startsWith('transfer.'))
    expect(ROWS.map(([point]) => point)).to.include.members(own)
  })

  for (const [point, before] of ROWS) {
    it(`at ${point}: one permit, one deposit, whoever asks again`, async () => {
      const { world } = stage
      const owner = await freshOwner(stage)
      const permit = await signPermit(world, owner, TEN)
      const body = await depositBody(world, owner, { permit })
      const dying = (submitter = await submitterProcess(stage, 'deposit'))
      for (const crashAt of before === undefined ? [point] : [before, point]) {
        await dying.start(crashAt)
        askAll('deposit', body)
        expect(await dying.ended()).to.equal('SIGKILL')
      }
      await dying.start()
      const record = await confirmed('deposit', body)
      expect(await sent(dying.privateKey)).to.equal(2)
      expect(await spent(world.at.deposit_module, owner.address)).to.have.length(1)
      expect(await walletOf(world, world.at.usdc, owner.address)).to.equal(PURSE - TEN)
      const cash = await balanceOf(world, record.subaccountId ?? 0n, world.at.cash_asset)
      expect(cash).to.equal(TEN * 10n ** 12n)
    })
  }

  it('pays a withdrawal out once, killed right after the broadcast', async () => {
    const { world } = stage
    const fresh = await freshOwner(stage)
    const owner = { ...fresh, subaccountId: await newAccount(world, fresh) }
    await approve(stage, owner.address, PURSE)
    const asset = world.at.wrapped_usdc
    await perform(
      world,
      actionsCall(world, [await signDeposit(world, owner, { amount: PURSE, asset })]),
    )
    const body = await withdrawalBody(world, owner, { asset, amount: TEN })
    const dying = (submitter = await submitterProcess(stage, 'withdrawal'))
    await dying.start('lane.after_broadcast_before_mark')
    askAll('withdrawal', body)
    expect(await dying.ended()).to.equal('SIGKILL')
    await dying.start()
    await confirmed('withdrawal', body)
    expect(await sent(dying.privateKey)).to.equal(1)
    expect(await walletOf(world, world.at.usdc, owner.address)).to.equal(TEN)
  })
})
