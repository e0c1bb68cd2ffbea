import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { CancelsAnswer, CancelsKind } from '../../bus-schemas/cancels.js'
import type { Address } from '../../core/action.js'
import { cancelsRefusals } from '../../core/entry/order-refusals.js'
import { isLeaseSec } from '../../core/entry/read-cancels.js'
import { refusals } from '../../core/entry/refusals.js'
import { asJsonObject, fieldOf, sentField } from '../../core/json.js'
import { askOneMarket } from '../../runtime/bus/ask-intake.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { Running } from '../../runtime/process/process.js'
import type { ClientFrame } from './client-frames.js'
import type { Connection } from './connection.js'
import { MAX_LEASES } from './limits.js'
import { errorFrame, leaseFrame } from './server-frames.js'

/** How long a socket's orders outlive the process that holds the socket, unless the client says otherwise. */
const DEFAULT_SEC = 30
const RETRY_MS = 1_000

export type LeaseRequest = Extract<ClientFrame, { op: 'cancel_on_disconnect' | 'cancel_all_after' }>

/** The leases of one socket. */
export interface SocketLeases {
  /** Answers a frame of an authenticated socket, or of one that is not yet. */
  request(frame: LeaseRequest, owner: Address | undefined): void
  /** The lease that the orders of this socket end with; undefined unless the client has asked for one. */
  leaseId(): string | undefined
  /** A market is listed from now on: the socket's lease is opened in it as well. */
  onListed(market: string): void
  /** The socket is closed: its orders are cancelled. */
  end(): void
}

export interface LeasesOfSocket {
  readonly connection: Pick<Connection, 'send'>
  /** The canonical name of a market, by any of its names. */
  readonly findMarket: (identifier: string) => string | undefined
  readonly listedMarkets: () => readonly string[]
}

/** The leases of all sockets of this process. */
export interface LeaseKeeper extends Running {
  open(socket: LeasesOfSocket): SocketLeases
}

export interface LeaseKeeperOptions {
  readonly bus: Pick<Bus, 'ask' | 'isConnected'>
  readonly log: Logger
  /** Most leases at once. */
  readonly maxLeases?: number
}

/** A lease that a socket holds, in the logs of these markets. */
interface Held {
  readonly owner: Address
  readonly leaseId: string
  readonly seconds: number
  markets: readonly string[]
  timer: NodeJS.Timeout | undefined
}

/** What is asked of each market. */
interface Asking {
  readonly kind: CancelsKind
  readonly owner: Address
  readonly markets: readonly string[]
  readonly body: object
}

type Ask = (asking: Asking) => Promise<(CancelsAnswer | undefined)[]>

/** The leases that this process keeps alive. */
interface Keeping {
  readonly log: Logger
  readonly ask: Ask
  readonly hasRoom: () => boolean
  /** Opens it in every market and keeps it alive; false when a market has not opened it. `onEnded`: it has ended in one. */
  readonly hold: (lease: Held, onEnded: () => void) => Promise<boolean>
  /** Opens it in one market more, however often that takes: until then the market cancels what is placed under it. */
  readonly widen: (lease: Held, market: string) => Promise<void>
  /** Ends it with its orders. */
  readonly drop: (lease: Held) => void
}

export function createLeaseKeeper({
  bus,
  log,
  maxLeases = MAX_LEASES,
}: LeaseKeeperOptions): LeaseKeeper {
  const held = new Set<Held>()
  const ending = new Set<Promise<unknown>>()
  const ask: Ask = ({ kind, owner, markets, body }) =>
    Promise.all(
      markets.map((market) => {
        const request_id = randomUUID()
        const sent = { request_id, kind, market, body: JSON.stringify(body), authenticated: owner }
        return askOneMarket(bus, sent)
      }),
    )
  const askFor = (kind: CancelsKind, { owner, leaseId, seconds, markets }: Held) =>
    ask({ kind, owner, markets, body: { lease_id: leaseId, seconds } })

  /** What is in the log holds for twice as long as it takes until it is written again. */
  const renewLater = (lease: Held, onEnded: () => void, inMs = lease.seconds * 500): void => {
    lease.timer = setTimeout(() => {
      renew(lease, onEnded).catch((error: unknown) => {
        log.error({ err: error, lease: lease.leaseId }, 'a lease could not be renewed')
        onEnded()
      })
    }, inMs)
  }
  const renew = async (lease: Held, onEnded: () => void): Promise<void> => {
    const answers = await askFor('renew_lease', lease)
    if (!held.has(lease)) return
    if (answers.some((each) => codeOf(each) === cancelsRefusals.leaseEnded.code)) return onEnded()
    const isRenewed = answers.every((each) => each?.kind === 'lease')
    renewLater(lease, onEnded, isRenewed ? undefined : RETRY_MS)
  }
  const hold: Keeping['hold'] = async (lease, onEnded) => {
    held.add(lease)
    const answers = await askFor('open_lease', lease)
    const isOpen = held.has(lease) && answers.every((each) => each?.kind === 'lease')
    // Also when it was dropped meanwhile: the question that opened it may have come later than the one that ended it.
    if (isOpen) renewLater(lease, onEnded)
    else drop(lease)
    return isOpen
  }
  const widen: Keeping['widen'] = (lease, market) => openLater({ held, askFor }, lease, market)
  const drop = (lease: Held): void => {
    clearTimeout(lease.timer)
    held.delete(lease)
    const asked = askFor('end_lease', lease).catch((error: unknown) => {
      // It ends by itself when its time is over.
      log.warn({ err: error, lease: lease.leaseId }, 'a lease could not be ended')
    })
    ending.add(asked)
    void asked.then(() => ending.delete(asked))
  }
  const keeping: Keeping = { log, ask, hasRoom: () => held.size < maxLeases, hold, widen, drop }
  return {
    open: (socket) => createSocketLeases(keeping, socket),
    stop: async () => {
      for (const lease of [...held]) drop(lease)
      await Promise.all(ending)
    },
  }
}

interface Opening {
  readonly held: ReadonlySet<Held>
  readonly askFor: (kind: CancelsKind, lease: Held) => ReturnType<Ask>
}

/** Asks a market again until it has opened the lease; one that has ended meanwhile is ended there as well. */
async function openLater({ held, askFor }: Opening, lease: Held, market: string): Promise<void> {
  const inMarket = { ...lease, markets: [market] }
  while (held.has(lease) && !lease.markets.includes(market)) {
    const [answer] = await askFor('open_lease', inMarket)
    if (!held.has(lease)) return void (await askFor('end_lease', inMarket))
    if (answer?.kind === 'lease') lease.markets = [...new Set([...lease.markets, market])]
    else await delay(RETRY_MS, undefined, { ref: false })
  }
}

function createSocketLeases(keeping: Keeping, socket: LeasesOfSocket): SocketLeases {
  const { connection } = socket
  let own: Held | undefined

  const onEnded = (): void => {
    if (own === undefined) return
    keeping.drop(own)
    own = undefined
    connection.send(errorFrame('lease_ended'))
  }
  const onDisconnect = async (owner: Address, { reqId, seconds }: LeaseTerms): Promise<void> => {
    if (own !== undefined) return connection.send(leaseFrame({ reqId, ...own }))
    if (!keeping.hasRoom()) return connection.send(errorFrame('lease_failed', { reqId }))
    const leaseId = randomBytes(16).toString('hex')
    const lease = { owner, leaseId, seconds, markets: socket.listedMarkets(), timer: undefined }
    own = lease
    if (await keeping.hold(lease, onEnded)) return connection.send(leaseFrame({ reqId, ...lease }))
    if (own === lease) own = undefined
    connection.send(errorFrame('lease_failed', { reqId }))
  }
  const request = (frame: LeaseRequest, owner: Address | undefined): void => {
    const { op, reqId } = frame
    if (owner === undefined) {
      const message = `authenticate before ${op}`
      return connection.send(errorFrame('auth_required', { reqId, message }))
    }
    const terms = readLease(socket, frame)
    if (terms === 'market') return connection.send(errorFrame('unknown_market', { reqId }))
    if (terms === 'seconds') return connection.send(errorFrame('bad_op', { reqId, field: terms }))
    const answering =
      op === 'cancel_on_disconnect'
        ? onDisconnect(owner, terms)
        : cancelAllAfter(keeping, socket, { owner, ...terms })
    answering.catch((error: unknown) => {
      keeping.log.error({ err: error }, 'a lease could not be set')
      connection.send(errorFrame('lease_failed', { reqId }))
    })
  }
  return {
    request,
    leaseId: () => own?.leaseId,
    onListed(market) {
      if (own === undefined) return
      keeping.widen(own, market).catch((error: unknown) => {
        keeping.log.error({ err: error, market }, 'a lease could not be opened in a new market')
      })
    },
    end() {
      if (own !== undefined) keeping.drop(own)
      own = undefined
    },
  }
}

/** Sets the lease over all orders of the owner, and answers with the earliest of its ends. */
async function cancelAllAfter(
  { ask }: Keeping,
  { connection, listedMarkets }: LeasesOfSocket,
  { owner, reqId, seconds, market }: LeaseTerms & { readonly owner: Address },
): Promise<void> {
  const named = market === undefined ? {} : { market }
  const answers = await ask({
    ...{ kind: 'cancel_all_after', owner },
    markets: market === undefined ? listedMarkets() : [market],
    body: { owner_address: owner, seconds, ...named },
  })
  const ends = answers.flatMap((each) => (each?.kind === 'lease' ? [each.ends_at_ms] : []))
  connection.send(
    ends.length === answers.length
      ? leaseFrame({ reqId, seconds, endsAtMs: Math.min(...ends) })
      : errorFrame('lease_failed', { reqId }),
  )
}

const codeOf = (answer: CancelsAnswer | undefined): string | undefined =>
  answer?.kind === 'refused' ? answer.refusal.code : refusals.cancelTarget.code

interface LeaseTerms {
  readonly reqId: string | undefined
  readonly seconds: number
  /** Canonical. */
  readonly market: string | undefined
}

/** The terms of a frame, or the name of the field that is wrong. */
export function readLease(
  { findMarket }: Pick<LeasesOfSocket, 'findMarket'>,
  { op, reqId, fields: frame }: LeaseRequest,
): LeaseTerms | 'seconds' | 'market' {
  const fields = asJsonObject(frame) ?? {}
  const isForSocket = op === 'cancel_on_disconnect'
  const sent = fieldOf(fields, 'seconds') ?? (isForSocket ? DEFAULT_SEC : undefined)
  const isDisarmed = !isForSocket && sent === 0
  if (!isDisarmed && !isLeaseSec(sent)) return 'seconds'
  const seconds = isDisarmed ? 0 : sent
  const named = isForSocket ? undefined : sentField(fields, 'market')
  if (named === undefined) return { reqId, seconds, market: undefined }
  const market = typeof named === 'string' ? findMarket(named) : undefined
  return market === undefined ? 'market' : { reqId, seconds, market }
}
