import {
  OutcomeUnknown,
  signOrder,
  VenueError,
  type NewOrder,
  type OrderRecord,
  type RestClient,
} from '../../client/index.js'
import { wordsOf } from '../../client/words-of.js'
import type { LadderPlan, NoLadderPlan } from '../select/ladder.js'
import { sideWords } from '../select/side-words.js'
import { GUARD_WORDS, NO_LADDER_WORDS } from '../select/ticket-words.js'
import type { OwnState } from '../state/own-state.js'
import type { Terminal } from '../state/terminal.js'
import { freshOrder, type Instructions } from './draft.js'

interface LadderRequest {
  readonly ladder: LadderPlan | NoLadderPlan
  readonly given: Instructions
}

/**
 * Signs the orders of a ladder and places them by one request, and tells what became of them. Throws an Error that says why none was
 * placed: a key that needs a prompt for each order signs no ladder.
 */
export async function placeLadder(
  terminal: Terminal,
  own: OwnState,
  { ladder, given }: LadderRequest,
): Promise<void> {
  if (!own.trader.isSilent)
    throw new Error('A ladder signs each of its orders: enable trading without prompts first.')
  if (typeof ladder === 'string') throw new Error(NO_LADDER_WORDS[ladder])
  const [guard] = ladder.guards
  if (guard !== undefined) throw new Error(GUARD_WORDS[guard.code])
  const bodies: NewOrder[] = []
  for (const planned of ladder.rungs) {
    const order = freshOrder(terminal, { own, planned, given })
    bodies.push(await signOrder(own.trader.signer, terminal.domain, order))
  }
  if (own !== terminal.own.value)
    throw new Error('The account has changed while it was signed: nothing was sent.')
  const words = `${sideWords(given.market.entry.value, given.typed.side)}, ladder of ${bodies.length}`
  const id = bodies[0]?.order_id ?? words
  const tell = (text: string, kind: 'busy' | 'good' | 'bad'): void =>
    terminal.toasts.tell({ id, text: `${words}: ${text}`, kind })
  tell('sending …', 'busy')
  const errors: unknown[] = []
  for (const outcome of await outcomesOf(terminal.venue, bodies))
    if ('record' in outcome) own.note(outcome.record)
    else errors.push(outcome.error)
  const placed = `${bodies.length - errors.length} placed`
  if (errors.length === 0) return tell(placed, 'good')
  // That one was sent again too soon leaves open what became of it.
  const isOpen = (error: unknown): boolean => error instanceof VenueError && error.retry === 'same'
  const unknown = errors.filter(isOpen).length
  const refused = errors.length - unknown
  const parts = [
    placed,
    ...(refused === 0 ? [] : [`${refused} not placed`]),
    ...(unknown === 0 ? [] : [`${unknown} without an answer, which may still appear`]),
  ]
  const text = `${parts.join(', ')}: ${[...new Set(errors.map(wordsOf))].join(' ')}`
  tell(text, 'bad')
  // The ticket stays.
  if (refused === bodies.length) throw new Error(text)
}

type RungOutcome = { readonly record: OrderRecord } | { readonly error: unknown }

interface RungPlaced {
  readonly order: OrderRecord
}

/** What became of each. The batch sends nothing twice: one without an outcome is sent again by itself, as the same bytes. */
async function outcomesOf(
  venue: Pick<RestClient, 'placeOrders' | 'placeOrder'>,
  bodies: readonly NewOrder[],
): Promise<readonly RungOutcome[]> {
  const results = await venue.placeOrders(bodies).catch((error: unknown) => {
    const refusal = { status: 400, message: wordsOf(error) }
    return error instanceof OutcomeUnknown ? [] : bodies.map(() => refusal)
  })
  return Promise.all(
    bodies.map(async (body, at): Promise<RungOutcome> => {
      const result = results[at]
      if (result?.status === 200) return { record: (result as RungPlaced).order }
      if (result !== undefined && result.status < 500 && result.status !== 409)
        return { error: new Error(refusalOf(result)) }
      try {
        return { record: await venue.placeOrder(body) }
      } catch (error) {
        return { error }
      }
    }),
  )
}

function refusalOf(result: object): string {
  const { error, message } = result as { readonly error?: unknown; readonly message?: unknown }
  return typeof message === 'string' ? message : String(error)
}
