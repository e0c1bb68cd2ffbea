import { expect } from 'chai'
import { parseAbiItem } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Hex } from '../../../core/action.js'
import { CRASH_POINTS } from '../../../core/crash-point.js'
import type { TransferKind } from '../../../core/transfer.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { actionsCall, signDeposit } from '../../support/devnet-actions.js'
import { balanceOf, newAccount, perform } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { startNatsServer } from '../../support/nats-server.js'
import {
  depositBody,
  signPermit,
  TEN,
  walletOf,
  withdrawalBody,
  type SentRequest,
} from './requests.js'
import {
  approve,
  asksOf,
  freshOwner,
  PURSE,
  recordIn,
  transferStage,
  type TransferStage,
} from './stage.js'
import { submitterProcess, type SubmitterProcess } from './submitter-process.js'

/**
 * Runs every job on the next worker that is free, in their order; each promise settles with its job,
 * so that a caller need not wait for all of them.
 */
function sideBySide<Worker, Result>(
  workers: readonly Worker[],
  jobs: readonly ((worker: Worker) => Promise<Result>)[],
): Promise<Result>[] {
  const free = [...workers]
  const waiting: ((worker: Worker) => void)[] = []
  const acquire = (): Promise<Worker> => {
    const worker = free.shift()
    return worker === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(worker)
  }
  const release = (worker: Worker): void => {
    const next = waiting.shift()
    if (next === undefined) free.push(worker)
    else next(worker)
  }
  const run = async (job: (worker: Worker) => Promise<Result>): Promise<Result> => {
    const worker = await acquire()
    try {
      return await job(worker)
    } finally {
      release(worker)
    }
  }
  return jobs.map((job) => {
    const result = run(job)
    result.catch(() => undefined)
    return result
  })
}

const REPEATS = 200
const SETTLES_WITHIN_MS = 60_000
const NONCE_USED = parseAbiItem('event NonceUsed(address indexed owner, uint256 nonce)')

type Row = readonly [point: string, inRecovery?: string]

/** Where it dies, and where it dies again while it recovers from that. */
const ROWS: readonly Row[] = [
  ['transfer.after_simulate'],
  ['transfer.after_permit_sent'],
  ['transfer.after_permit_mined'],
  ['transfer.after_receipt_before_mark'],
  ['transfer.in_mark'],
  ['transfer.after_mark_before_answer'],
  ['transfer.after_claim', 'transfer.recovery_mid'],
  // The first passing is the permit's, the second the deposit's.
  ['sender.after_record_before_append:2'],
  // The first message is the claim: in memory alone; in the stream without its knowledge; in the journal and in no record.
  ['journal.before_append'],
  ['journal.after_append_before_ack'],
  ['transfer.after_append_before_record'],
  // The fourth is the signed deposit, after the permit and its outcome.
  ['journal.before_append:4'],
  ['journal.after_append_before_ack:4'],
  ['journal.after_ack_before_fold:4'],
  ['journal.in_fold:4'],
  ['sender.after_append_before_broadcast:2'],
  ['sender.during_broadcast:2'],
  ['sender.after_receipt_before_mark:2'],
]

describe('a submitter that is killed', function () {
  const places: Place[] = []
  const jobs = ROWS.map((row) => (place: Place) => deposit(place, row))
  let done: Promise<void>[] = []

  before(async () => {
    const stage = await transferStage()
    const stages = [stage, await besides(stage)]
    places.push(...(await Promise.all(stages.map(placeOf))))
    done = sideBySide(places, [...jobs, withdrawal])
  })
  after(async () => {
    await Promise.allSettled(done)
    await Promise.all(places.map(({ dying }) => dying.end()))
    const [, other] = places
    await other?.stage.bus.close()
    await other?.stage.nats.stop()
  })

  it('is killed at each of its points', () => {
    const own = CRASH_POINTS.filter((point) => /^(transfer|journal)\./.test(point))
    const points = ROWS.flat().map((row) => row?.split(':')[0])
    expect(points).to.include.members(own)
  })

  ROWS.forEach((points, index) => {
    it(`at ${points.join(', then at ')}: one permit, one deposit, however often it is asked for (TRA-023)`, () =>
      done[index])
  })

  it('pays a withdrawal out once, killed right after the broadcast (TRA-023)', () => done.at(-1))
})

/** Where one submitter is killed at a time: in one row after the other, each of which begins where the last one ended. */
interface Place {
  readonly stage: TransferStage
  readonly dying: SubmitterProcess
}

const placeOf = async (stage: TransferStage): Promise<Place> => ({
  stage,
  dying: await submitterProcess(stage, 'deposit'),
})

/** The same chain with a bus of its own, so that another submitter of the kind is asked there. */
async function besides(stage: TransferStage): Promise<TransferStage> {
  const nats = await startNatsServer()
  return { ...stage, nats, bus: await connectNatsBus({ url: nats.url, name: 'test' }) }
}

async function deposit({ stage, dying }: Place, [point, inRecovery]: Row): Promise<void> {
  const { world } = stage
  const owner = await freshOwner(stage)
  const permit = await signPermit(world, owner, TEN)
  const body = await depositBody(world, owner, { permit })
  const sentBefore = await sent(stage, dying.privateKey)
  await dying.arm(point)
  askAll(stage, 'deposit', body)
  expect(await dying.ended()).to.equal('SIGKILL')
  if (inRecovery !== undefined) {
    await dying.start(inRecovery)
    expect(await dying.ended()).to.equal('SIGKILL')
  }
  await dying.start()
  const record = await confirmed(stage, 'deposit', body)
  expect(await sent(stage, dying.privateKey)).to.equal(sentBefore + 2)
  expect(await spent(stage, owner.address)).to.have.length(1)
  expect(await walletOf(world, world.at.usdc, owner.address)).to.equal(PURSE - TEN)
  const cash = await balanceOf(world, record.subaccountId ?? 0n, world.at.cash_asset)
  expect(cash).to.equal(TEN * 10n ** 12n)
}

async function withdrawal({ stage }: Place): Promise<void> {
  const { world } = stage
  const fresh = await freshOwner(stage)
  const owner = { ...fresh, subaccountId: await newAccount(world, fresh) }
  await approve(stage, owner.address, PURSE)
  const asset = world.at.wrapped_usdc
  const funding = await signDeposit(world, owner, { amount: PURSE, asset })
  await perform(world, actionsCall(world, [funding]))
  const body = await withdrawalBody(world, owner, { asset, amount: TEN })
  const dying = await submitterProcess(stage, 'withdrawal')
  try {
    await dying.start('sender.after_broadcast_before_mark')
    askAll(stage, 'withdrawal', body)
    expect(await dying.ended()).to.equal('SIGKILL')
    await dying.start()
    await confirmed(stage, 'withdrawal', body)
    expect(await sent(stage, dying.privateKey)).to.equal(1)
    expect(await walletOf(world, world.at.usdc, owner.address)).to.equal(TEN)
  } finally {
    await dying.end()
  }
}

const sent = ({ world }: TransferStage, key: Hex) =>
  world.client.getTransactionCount({ address: privateKeyToAddress(key) })
const spent = ({ world }: TransferStage, owner: Hex) =>
  world.client.getLogs({
    address: world.at.deposit_module,
    event: NONCE_USED,
    args: { owner },
    fromBlock: 0n,
  })

/** All callers ask at once; a caller of a process that died has no answer. */
function askAll(stage: TransferStage, kind: TransferKind, body: SentRequest): void {
  const { ask } = asksOf(stage, kind)
  for (let i = 0; i < REPEATS; i += 1) ask(body).catch(() => undefined)
}

async function confirmed(stage: TransferStage, kind: TransferKind, body: SentRequest) {
  const { ask } = asksOf(stage, kind)
  askAll(stage, kind, body)
  await eventually(async () => {
    expect(recordIn(await ask(body)).status).to.equal('confirmed')
  }, SETTLES_WITHIN_MS)
  return recordIn(await ask(body))
}
