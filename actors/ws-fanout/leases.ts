import type { Address } from '../../core/action.js'
import { isLeaseSec } from '../../core/entry/read-cancels.js'
import { asJsonObject, fieldOf, sentField } from '../../core/json.js'
import type { Logger } from '../../runtime/process/log.js'
import type { ClientFrame } from './client-frames.js'
import type { ClientConnection } from './connection.js'
import type { HeldPart, LeaseKeeper } from './lease-keeper.js'
import { authRequired, errorFrame, leaseFrame } from './server-frames.js'

/** How long a socket's orders outlive the process that holds the socket, unless the client says otherwise. */
const DEFAULT_SEC = 30

export type LeaseRequest = Extract<ClientFrame, { op: 'cancel_on_disconnect' | 'cancel_all_after' }>

/** The leases of one socket. */
export interface SocketLeases {
  /** Answers a frame of an authenticated socket, or of one that is not yet. */
  request(frame: LeaseRequest, owner: Address | undefined): void
  /** The lease that the orders of this socket end with; undefined unless the client has asked for one. */
  leaseId(): string | undefined
  /** The socket is closed: its orders are cancelled. */
  end(): void
}

export interface LeasesOfSocket {
  readonly connection: Pick<ClientConnection, 'send'>
  /** The canonical name of a market, by any of its names. */
  readonly findMarket: (identifier: string) => string | undefined
  readonly listedMarkets: () => readonly string[]
}

/** The leases of a socket, of which the keeper holds one for all sockets of the owner. */
export function createSocketLeases(
  keeper: Pick<LeaseKeeper, 'hold' | 'ask'>,
  socket: LeasesOfSocket,
  log: Logger,
): SocketLeases {
  const { connection } = socket
  let isOver = false
  let holding: Promise<HeldPart | undefined> | undefined
  let own: HeldPart | undefined

  const onEnded = (): void => {
    own = undefined
    holding = undefined
    connection.send(errorFrame('lease_ended'))
  }
  const onDisconnect = async (
    owner: Address,
    { reqId, seconds }: LeaseFrameTerms,
  ): Promise<void> => {
    const asked = (holding ??= keeper.hold({
      owner,
      seconds,
      markets: socket.listedMarkets(),
      onEnded,
    }))
    let part: HeldPart | undefined
    try {
      part = await asked
    } finally {
      // Another one may be asked for.
      if (part === undefined && holding === asked) holding = undefined
    }
    if (isOver) return part?.leave()
    own = part
    connection.send(
      part === undefined
        ? errorFrame('lease_failed', { reqId })
        : leaseFrame({ reqId, leaseId: part.leaseId, seconds: part.seconds() }),
    )
  }
  const request = (frame: LeaseRequest, owner: Address | undefined): void => {
    const { op, reqId } = frame
    if (owner === undefined) return connection.send(authRequired(op, reqId))
    const terms = readLease(socket, frame)
    if (terms === 'market') return connection.send(errorFrame('unknown_market', { reqId }))
    if (terms === 'seconds') return connection.send(errorFrame('bad_op', { reqId, field: terms }))
    const answering =
      op === 'cancel_on_disconnect'
        ? onDisconnect(owner, terms)
        : cancelAllAfter(keeper, socket, { owner, ...terms })
    answering.catch((error: unknown) => {
      log.error({ err: error }, 'a lease could not be set')
      connection.send(errorFrame('lease_failed', { reqId }))
    })
  }
  return {
    request,
    leaseId: () => own?.leaseId,
    end() {
      isOver = true
      own?.leave()
      own = undefined
    },
  }
}

/** Sets the lease over all orders of the owner, and answers with the earliest of its ends. */
async function cancelAllAfter(
  { ask }: Pick<LeaseKeeper, 'ask'>,
  { connection, listedMarkets }: LeasesOfSocket,
  { owner, reqId, seconds, market }: LeaseFrameTerms & { readonly owner: Address },
): Promise<void> {
  const named = market === undefined ? {} : { market }
  const answers = await ask({
    kind: 'cancel_all_after',
    owner,
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

interface LeaseFrameTerms {
  readonly reqId: string | undefined
  readonly seconds: number
  /** Canonical. */
  readonly market: string | undefined
}

/** The terms of a frame, or the name of the field that is wrong. */
export function readLease(
  { findMarket }: Pick<LeasesOfSocket, 'findMarket'>,
  { op, reqId, fields: frame }: LeaseRequest,
): LeaseFrameTerms | 'seconds' | 'market' {
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
