import { batch, signal, type ReadonlySignal } from '@preact/signals'
import {
  createLocalFills,
  signFrame,
  type AccountBalances,
  type AccountsBody,
  type FillEvent,
  type LocalFills,
  type OrderDelta,
  type OrderRecord,
  type PositionsBody,
  type RestClient,
  type SettledLeg,
  type SignedFrame,
  type SocketClient,
} from '../../client/index.js'
import { wordsOf } from '../../client/words-of.js'
import { MAX_BALANCE_ACCOUNTS } from '../../core/limits.js'
import type { VenueFacts } from '../../interface/signing.js'
import type { Frames } from './frames.js'
import { soon } from './soon.js'
import type { Trader } from './trader.js'

/** A leg of a match of one's own, pending or settled, with its market. */
export interface OwnLeg {
  readonly market: string
  readonly leg: FillEvent | SettledLeg
}

/** A match that did not settle, or does not count any more. */
export interface OwnFailure {
  readonly market: string
  readonly leg: FillEvent
}

/** What belongs to one owner. A new one is made for each trader: what comes late belongs to the one before. */
export interface OwnState {
  readonly trader: Trader
  /** Every order that is open, and the newest that have ended, by id. */
  readonly orders: ReadonlySignal<ReadonlyMap<string, OrderRecord>>
  /** Newest first. */
  readonly fills: ReadonlySignal<readonly OwnLeg[]>
  /** Fills before this time, in ISO 8601, are not all among `fills`; undefined where all are. */
  readonly fillsFrom: ReadonlySignal<string | undefined>
  /** The match that the chain has refused or taken back last, since the page is open; undefined before the first. */
  readonly failure: ReadonlySignal<OwnFailure | undefined>
  readonly accounts: ReadonlySignal<AccountsBody['accounts']>
  readonly sessionKeys: ReadonlySignal<AccountsBody['session_keys']>
  readonly balances: ReadonlySignal<readonly AccountBalances[]>
  readonly positions: ReadonlySignal<readonly PositionsBody[]>
  /** Whether accounts, positions, orders and fills begin with what the venue has. */
  readonly isRead: ReadonlySignal<boolean>
  /** Why nothing can be shown; `retry` asks again. */
  readonly trouble: ReadonlySignal<string | undefined>
  readonly hasOlder: ReadonlySignal<boolean>
  retry(): void
  readOlder(): Promise<void>
  /** Takes a record that an answer has shown. */
  note(record: OrderRecord): void
  /** Reads accounts, balances and positions again. */
  reread(): void
  frame(): Promise<SignedFrame>
  isOpen(): boolean
  close(): void
}

export interface OwnParts {
  readonly trader: Trader
  /** Those that are listed now: `retry` follows them. */
  readonly markets: () => readonly { readonly market: string }[]
  readonly venue: RestClient
  /** Unix seconds by the venue's clock. */
  readonly nowSec: () => number
  readonly facts: Pick<VenueFacts, 'frames'>
  readonly frames: Frames
  /** Opens a socket that proves the trader by these frames. */
  readonly connect: (authenticate: () => Promise<SignedFrame>) => SocketClient
}

const PAGE = 50
/** So many orders that have ended are kept beside those that are open. */
const ENDED_KEPT = 300
const FILLS_SHOWN = 200
const FILLS_READ = 100
/** Legs of a market that are kept. */
const FILLS_KEPT = 500
/** Orders that a burst has touched and that are read one by one; more are read as lists. */
const READ_SINGLY = 20
/** Beside a bot orders change all the time: their records are read no oftener. */
const TOUCHED_MS = 1_000
/** A frame is signed anew so long before it ends: a read takes its time. */
const FRAME_MARGIN_SEC = 60

export const isOpenOrder = ({ status }: Pick<OrderRecord, 'status'>): boolean =>
  status === 'active' || status === 'matching'

/** Follows an owner until it is closed. */
export function openOwn(parts: OwnParts): OwnState {
  const { trader, venue, markets, nowSec } = parts
  const trouble = signal<string | undefined>(undefined)
  const isRead = signal(false)
  const history = createFrameKeeper(parts)
  let isClosed = false
  const due = (flush: () => void): void => parts.frames.due(() => isClosed || flush())
  const { domain, product } = parts.facts.frames
  const socket = parts.connect(() =>
    signFrame(trader.signer, {
      purpose: 'socket',
      domain,
      product,
      owner: trader.owner,
      issuedAtSec: nowSec(),
    }),
  )
  const orders = createOrders({ ...parts, due, frame: history.frame })
  const fills = createFills(due)
  const money = createMoney({ ...parts, due, frame: history.frame })
  const refused = (code: string, message: string): void => {
    trouble.value = `${code}: ${message}`
  }
  let ends: (() => void)[] = []
  const follow = (): void => {
    for (const end of ends) end()
    trouble.value = undefined
    ends = markets().flatMap(({ market }) => [
      socket.subscribe('orders', market, {
        onSnapshot: (snapshot) => orders.reset(market, snapshot),
        onUpdate(delta) {
          orders.apply(delta)
          money.positionsSoon()
        },
        onRefused: refused,
      }),
      socket.subscribe('fills', market, {
        onSnapshot: (events) => fills.take(market, events),
        onUpdate(event) {
          fills.take(market, [event])
          fills.noteFailure(market, event)
          money.positionsSoon()
        },
        onRefused: refused,
      }),
    ])
    ends.push(
      socket.subscribeBalances({
        onSnapshot: money.follow,
        onUpdate: money.follow,
        onRefused: refused,
      }),
    )
    read()
  }
  const read = soon(async () => {
    try {
      await money.read()
      await Promise.all([orders.read(), fills.read(venue, await history.frame())])
      // After the frame that shows them.
      due(() => void (isRead.value = true))
    } catch (error) {
      if (trouble.value === undefined && !isClosed) trouble.value = wordsOf(error)
    }
  }, 0)
  follow()
  return {
    trader,
    trouble,
    isRead,
    orders: orders.all,
    hasOlder: orders.hasOlder,
    fills: fills.all,
    fillsFrom: fills.from,
    failure: fills.failure,
    note: orders.note,
    readOlder: orders.readOlder,
    accounts: money.accounts,
    balances: money.balances,
    positions: money.positions,
    sessionKeys: money.sessionKeys,
    reread: money.rereadSoon,
    frame: history.frame,
    retry: follow,
    isOpen: () => socket.isOpen(),
    close() {
      isClosed = true
      socket.close()
    },
  }
}

/** Signs a frame of the history once for its life: a wallet asks its user each time. */
function createFrameKeeper({ trader, facts, nowSec }: OwnParts) {
  const { domain, product, history } = facts.frames
  const validSec = history.max_valid_seconds
  let kept: { readonly frame: Promise<SignedFrame>; readonly untilSec: number } | undefined
  return {
    frame: (): Promise<SignedFrame> => {
      if (kept !== undefined && kept.untilSec > nowSec()) return kept.frame
      const issuedAtSec = nowSec()
      const options = { domain, product, owner: trader.owner, validSec, issuedAtSec }
      const frame = signFrame(trader.signer, { purpose: 'history', ...options })
      const mine = { frame, untilSec: issuedAtSec + validSec - FRAME_MARGIN_SEC }
      kept = mine
      // What was refused is asked for again the next time.
      frame.catch(() => {
        if (kept === mine) kept = undefined
      })
      return frame
    },
  }
}

interface OrdersParts extends Pick<OwnParts, 'venue'> {
  readonly due: (flush: () => void) => void
  readonly frame: () => Promise<SignedFrame>
}

function createOrders({ venue, due, frame }: OrdersParts) {
  const all = signal<ReadonlyMap<string, OrderRecord>>(new Map())
  const kept = new Map<string, OrderRecord>()
  const touched = new Set<string>()
  const flush = (): void => {
    trim(kept)
    all.value = new Map(kept)
  }
  const put = (record: OrderRecord): void => {
    const known = kept.get(record.order_id)
    // An answer that was overtaken says less than what is known.
    if (known !== undefined && known.updated_at > record.updated_at) return
    kept.set(record.order_id, record)
    due(flush)
  }
  const lists = createOrderLists({ venue, frame, put })
  const readTouched = soon(async () => {
    const ids = [...touched]
    touched.clear()
    if (ids.length > READ_SINGLY) return lists.readAll()
    const found = await Promise.all(
      ids.map((id) =>
        venue.order(id).then(
          ({ order }) => order,
          () => undefined,
        ),
      ),
    )
    for (const record of found) if (record !== undefined) put(record)
  }, TOUCHED_MS)
  return {
    all,
    hasOlder: lists.hasOlder,
    read: lists.readAll,
    readOlder: lists.readOlder,
    note: put,
    /** What is open of a market: an order that the snapshot lacks has ended meanwhile. */
    reset(market: string, snapshot: readonly OrderRecord[]): void {
      const here = new Set(snapshot.map(({ order_id }) => order_id))
      for (const record of kept.values()) {
        if (record.market !== market || !isOpenOrder(record) || here.has(record.order_id)) continue
        touched.add(record.order_id)
      }
      snapshot.forEach(put)
      if (touched.size > 0) readTouched()
      due(flush)
    },
    apply(delta: OrderDelta): void {
      const known = kept.get(delta.order_id)
      if (known !== undefined && known.updated_at <= delta.updated_at) {
        // What an update does not say, its JSON does not have.
        kept.set(delta.order_id, { ...known, ...delta } as OrderRecord)
        due(flush)
      }
      // The update says less than the record: not why it is held, nor what is open.
      touched.add(delta.order_id)
      readTouched()
    },
  }
}

interface ListParts extends Pick<OrdersParts, 'venue' | 'frame'> {
  readonly put: (record: OrderRecord) => void
}

/** Reads the lists of the history: everything that is open, and page by page what came before. */
function createOrderLists({ venue, frame, put }: ListParts) {
  const hasOlder = signal(false)
  let before: string | undefined
  const readOpen = async (): Promise<void> => {
    const signed = await frame()
    for (let from: string | undefined; ;) {
      const older = from === undefined ? {} : { before: from }
      const page = await venue.orderHistory(signed, { status: 'open', limit: 100, ...older })
      page.orders.forEach(put)
      from = page.next_before
      if (from === undefined) return
    }
  }
  const readOlder = async (): Promise<void> => {
    const older = before === undefined ? {} : { before }
    const page = await venue.orderHistory(await frame(), { limit: PAGE, ...older })
    page.orders.forEach(put)
    before = page.next_before
    hasOlder.value = before !== undefined
  }
  return {
    hasOlder,
    readOlder,
    readAll: async (): Promise<void> => {
      before = undefined
      await Promise.all([readOpen(), readOlder()])
    },
  }
}

function trim(kept: Map<string, OrderRecord>): void {
  const ended = [...kept.values()].filter((record) => !isOpenOrder(record))
  if (ended.length <= ENDED_KEPT) return
  ended.sort((a, b) => a.updated_at.localeCompare(b.updated_at))
  for (const { order_id } of ended.slice(0, ended.length - ENDED_KEPT)) kept.delete(order_id)
}

function createFills(due: (flush: () => void) => void) {
  const all = signal<readonly OwnLeg[]>([])
  const from = signal<string | undefined>(undefined)
  const failure = signal<OwnFailure | undefined>(undefined)
  /** When the oldest fill of the history that was read was made, where the history has older ones. */
  let readFrom: string | undefined
  const byMarket = new Map<string, LocalFills>()
  const of = (market: string): LocalFills => {
    const fills = byMarket.get(market) ?? createLocalFills({ keep: FILLS_KEPT })
    byMarket.set(market, fills)
    return fills
  }
  const flush = (): void => {
    const known = [...byMarket]
      .flatMap(([market, fills]) =>
        [...fills.pending(), ...fills.settled()].map((leg) => ({ market, leg })),
      )
      .sort((a, b) => b.leg.created_at.localeCompare(a.leg.created_at))
    all.value = known.slice(0, FILLS_SHOWN)
    const shownFrom = known.length > FILLS_SHOWN ? all.value.at(-1)?.leg.created_at : undefined
    from.value = (shownFrom ?? '') > (readFrom ?? '') ? shownFrom : readFrom
  }
  return {
    all,
    from,
    failure,
    noteFailure(market: string, leg: FillEvent): void {
      if (leg.status === 'failed' || leg.status === 'reversed') failure.value = { market, leg }
    },
    take(market: string, events: readonly FillEvent[]): void {
      of(market).apply(events)
      due(flush)
    },
    async read(venue: Pick<RestClient, 'fills'>, frame: SignedFrame): Promise<void> {
      const { fills, next_before: older } = await venue.fills(frame, { limit: FILLS_READ })
      readFrom = older === undefined ? undefined : fills.at(-1)?.created_at
      for (const fill of fills) of(fill.market).applyHistory([fill])
      due(flush)
    },
  }
}

interface MoneyParts extends Pick<OwnParts, 'trader' | 'venue'> {
  readonly due: (flush: () => void) => void
  readonly frame: () => Promise<SignedFrame>
}

function createMoney({ trader, venue, due, frame }: MoneyParts) {
  const accounts = signal<AccountsBody['accounts']>([])
  const sessionKeys = signal<AccountsBody['session_keys']>([])
  const balances = signal<readonly AccountBalances[]>([])
  const positions = signal<readonly PositionsBody[]>([])
  const kept = new Map<string, AccountBalances>()
  const flush = (): void => {
    balances.value = [...kept.values()].sort(
      (a, b) => Number(a.subaccount_id) - Number(b.subaccount_id),
    )
  }
  const put = (held: readonly AccountBalances[]): void => {
    for (const one of held) {
      const known = kept.get(one.subaccount_id)
      if ((known?.block_number ?? 0) <= one.block_number) kept.set(one.subaccount_id, one)
    }
    due(flush)
  }
  /**
   * Those that were just opened, which the list lacks for a block, then the first that are listed: on the chain any caller may open
   * accounts of an owner, and each costs a question.
   */
  const ids = (): readonly string[] =>
    [
      ...new Set([
        ...trader.known.values(),
        ...accounts.value.map(({ subaccount_id }) => subaccount_id),
      ]),
    ].slice(0, MAX_BALANCE_ACCOUNTS)
  const readPositions = async (): Promise<void> => {
    const asked = ids()
    const read = await Promise.all(asked.map((id) => venue.positions(id)))
    positions.value = read.filter((body) => body.accounts.length > 0 || body.positions.length > 0)
  }
  const read = async (): Promise<void> => {
    const body = await venue.accounts(trader.owner)
    batch(() => {
      accounts.value = body.accounts
      sessionKeys.value = body.session_keys
    })
    const asked = ids()
    const [held] = await Promise.all([
      asked.length === 0 ? undefined : venue.balances(await frame(), asked),
      readPositions(),
    ])
    put(held?.accounts ?? [])
  }
  const positionsSoon = soon(readPositions, 800)
  return {
    accounts,
    sessionKeys,
    balances,
    positions,
    read,
    positionsSoon,
    rereadSoon: soon(read, 0),
    follow: (held: readonly AccountBalances[]): void => {
      put(held)
      positionsSoon()
    },
  }
}
