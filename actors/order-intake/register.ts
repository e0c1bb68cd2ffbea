import { MAX_MESSAGE_BYTES } from '../../bus-schemas/envelope.js'
import {
  decodeRegisterRequest,
  encodeRegisterAnswer,
  encodeRegistration,
  registerText,
  REGISTRATION_VERSION,
  whyTooMany,
  type RegisterAnswer,
  type RegisterRequest,
  type RegistrationOrder,
} from '../../bus-schemas/register.js'
import { askRegister, registerStream, registerSubject } from '../../bus-schemas/subjects.js'
import { CannotStart } from '../../core/cannot-start.js'
import {
  entryOf,
  marketOf,
  whyUnregistrable,
  type MarketEntries,
  type RegisterEntry,
} from '../../core/contracts/market-register.js'
import { isContractType } from '../../core/contracts/registry.js'
import { withIdentity } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import { crash } from '../../core/crash-point.js'
import { whyNotPlain } from '../../core/entry/operator-words.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { joinMarket, MarketFileError, parseRow, rowOf } from '../../data/market-row.js'
import { describeAbsent, type LoadedMarkets } from '../../data/markets.js'
import { AnotherWriter, appendFenced } from '../../runtime/bus/append-fenced.js'
import { StreamMissing, type Bus, type Subscription } from '../../runtime/bus/bus.js'
import type { CheckOperator } from '../../runtime/bus/check-operator.js'
import { readOpening } from '../../runtime/bus/market-log.js'
import {
  openRegister,
  type MarketRegister,
  type ReadRegister,
} from '../../runtime/bus/market-register.js'
import { readQuestion, warnOfUnreadable } from '../../runtime/bus/read-question.js'
import { recordVersions } from '../../runtime/bus/stream-versions.js'
import type { Logger } from '../../runtime/process/log.js'

/** Writes the register of markets: the first import of a market file, and what operators register. */

/** The register is not the one that this venue had. */
export class RegisterLost extends CannotStart {
  override readonly name = 'RegisterLost'
}

interface RegisterParts {
  readonly bus: Bus
  readonly log: Logger
}

interface ImportParts extends RegisterParts {
  readonly registry: Pick<IntakeRegistry, 'registeredTo'>
  /** The market file, with which a venue without a register begins. Throws MarketFileError. */
  readonly readFile: () => LoadedMarkets
}

/**
 * Declares the register and, while it is empty, imports the market file as one registration: all of the file, or none. A market
 * whose log exists keeps the identity of its log. Throws RegisterLost when the register ends before where intake.db has read it;
 * MarketFileError when a row is refused.
 */
export async function provideRegister(parts: ImportParts): Promise<void> {
  const { bus, registry, log, readFile } = parts
  await bus.declareStream({
    stream: registerStream,
    subject: registerSubject,
    description: 'The markets of the venue, with what their logs begin and their texts',
  })
  const onRaised = (message: string) => log.warn(message)
  await recordVersions(bus, new Map([[registerStream, REGISTRATION_VERSION]]), onRaised)
  const { lastSeq } = await bus.streamState(registerStream)
  const readTo = registry.registeredTo()
  if (lastSeq < readTo) {
    throw new RegisterLost(
      `${registerStream} ends at ${lastSeq}, and intake.db has read it up to ${readTo}: restore the stream from a backup (docs/BACKUP.md)`,
    )
  }
  if (lastSeq > 0) return
  const entries = await importedEntries(parts, readFile())
  try {
    const seq = await register(parts, { by: 'order-intake', reason: 'import', entries }, 0)
    log.info({ markets: entries.map(nameOf), seq }, 'the market file is imported')
  } catch (error) {
    if (!(error instanceof AnotherWriter)) throw error
    log.warn('the market file is not imported: another order intake has imported its own')
  }
}

export interface OwnRegisterOptions extends ImportParts {
  readonly registry: ImportParts['registry'] & Pick<IntakeRegistry, 'markRegisteredTo'>
  readonly onFatal: (error: unknown) => void
}

/** provideRegister, then openRegister; intake.db remembers how far the register was read. */
export async function openOwnRegister(options: OwnRegisterOptions): Promise<MarketRegister> {
  const { registry } = options
  await provideRegister(options)
  const register = await openRegister({ ...options, onError: options.onFatal })
  registry.markRegisteredTo(register.now().seq)
  return {
    ...register,
    watch: (onRegistered) =>
      register.watch(async (registered) => {
        await onRegistered(registered)
        registry.markRegisteredTo(registered.seq)
      }),
  }
}

async function importedEntries(
  { bus, log }: RegisterParts,
  { markets, refused, absent }: LoadedMarkets,
): Promise<readonly RegisterEntry[]> {
  const [first] = refused
  if (first !== undefined) throw notImported(`${first.row}: ${first.problem}`)
  for (const row of absent) log.info(describeAbsent(row))
  const entries: RegisterEntry[] = []
  for (const row of markets) entries.push(entryOf(await asLogged(bus, row)))
  const why = whyUnregistrable(new Map(), entries) ?? whyTooMany(entries)
  if (why !== undefined) throw notImported(why)
  if (entries.length === 0) throw notImported('it has no market of the deployment')
  return entries
}

const notImported = (why: string): MarketFileError =>
  new MarketFileError(`the market file is not imported: ${why}`)

/** The row with the identity of its log, if there is one. */
async function asLogged(bus: Bus, row: Market): Promise<Market> {
  try {
    const logged = await readOpening(bus, row)
    return logged === undefined ? row : withIdentity(row, logged)
  } catch (error) {
    if (error instanceof StreamMissing) return row
    throw error
  }
}

const nameOf = ({ opening }: RegisterEntry): string => opening.identity.market

/** Appends what is registered after the message `lastSeq`, and resolves with its place. Throws AnotherWriter. */
async function register(
  { bus, log }: RegisterParts,
  { by, reason, entries }: RegistrationOrder,
  lastSeq: number,
): Promise<number> {
  const data = encodeRegistration({ by, reason, entries, atMs: Date.now() })
  if (data.length > MAX_MESSAGE_BYTES) {
    throw new MarketFileError('the markets do not fit one message: register fewer at once')
  }
  const onUnknown = (err: unknown) => log.warn({ err }, 'registration not acknowledged')
  const target = { bus, stream: registerStream, subject: registerSubject, onUnknown }
  const seq = await appendFenced(target, data, lastSeq)
  crash('intake.after_registration')
  return seq
}

/** Requests that wait for those before them; more are refused. */
const MAX_WAITING = 16

export interface AnswerRegisterOptions extends RegisterParts {
  /** As this process has read it by now. */
  readonly now: () => ReadRegister
  readonly operators: CheckOperator
  /** The register cannot be written any more. */
  readonly onFatal: (error: unknown) => void
}

/** Answers operators who have markets registered, one after the other. */
export async function answerRegister(
  options: AnswerRegisterOptions,
  queue: string,
): Promise<Subscription> {
  const { bus, log, operators, onFatal } = options
  await operators.open(bus)
  const own: OwnEnd = { seq: 0 }
  let waiting = 0
  let last: Promise<void> = Promise.resolve()
  const subscription = await bus.answer(askRegister, queue, (data, replyTo) => {
    const answer = (given: RegisterAnswer): void => bus.reply(replyTo, encodeRegisterAnswer(given))
    const request = readQuestion(decodeRegisterRequest, data, warnOfUnreadable(log))
    if (request === undefined) return answer(refused('the request cannot be read'))
    if (waiting >= MAX_WAITING) return answer(refused('too many requests wait: try again'))
    waiting += 1
    last = last
      .then(async () => answer(await carryOut(options, request, own)))
      .catch(onFatal)
      .finally(() => (waiting -= 1))
  })
  return {
    async stop() {
      await subscription.stop()
      await last
    },
  }
}

const refused = (message: string): RegisterAnswer => ({ kind: 'refused', message })

/** The last message that this process has written, which it may not have read yet. */
interface OwnEnd {
  seq: number
}

async function carryOut(
  options: AnswerRegisterOptions,
  request: RegisterRequest,
  own: OwnEnd,
): Promise<RegisterAnswer> {
  const { bus, log, now, operators } = options
  const verdict = await operators.verdict(bus, request, (proof) => registerText(request, proof))
  if ('problem' in verdict) {
    log.warn({ by: request.by, why: verdict.problem }, 'a registration is refused')
    return refused(verdict.problem)
  }
  const { entries: known, seq } = now()
  if (request.after_seq !== seq || seq < own.seq) return { kind: 'stale' }
  const { entries, reason } = request
  const why =
    whyNotPlain({ by: verdict.by, reason }) ??
    whyBadRows(entries) ??
    whyUnregistrable(known, entries)
  if (why !== undefined) return refused(why)
  if (entries.every((entry) => isKnown(known, entry))) return { kind: 'registered', seq }
  try {
    const by = verdict.by
    const at = await register(options, { by, reason, entries }, seq)
    own.seq = at
    log.info({ by, reason, markets: entries.map(nameOf), seq: at }, 'markets are registered')
    return { kind: 'registered', seq: at }
  } catch (error) {
    if (error instanceof MarketFileError) return refused(error.message)
    throw error
  }
}

/** Every rule of a row holds for an entry: an operator's program may be of another release. */
function whyBadRows(entries: readonly RegisterEntry[]): string | undefined {
  try {
    for (const entry of entries) {
      const { market, contractType } = entry.opening.identity
      if (!isContractType(contractType))
        return `${market}: contract_type must be a known contract type`
      joinMarket(parseRow(rowOf(marketOf(entry))), {})
    }
    return undefined
  } catch (error) {
    if (error instanceof MarketFileError) return error.message
    throw error
  }
}

/** Whether nothing would change: a repeat, whose first answer was lost. */
function isKnown(known: MarketEntries, entry: RegisterEntry): boolean {
  const before = known.get(nameOf(entry))
  const written = (each: RegisterEntry) =>
    encodeRegistration({ by: '', reason: '', entries: [each] })
  if (before === undefined) return false
  const after = { opening: before.opening, texts: entry.texts }
  return Buffer.compare(written(before), written(after)) === 0
}
