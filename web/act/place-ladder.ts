import {
  OutcomeUnknown,
  signOrder,
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
 * Signs the orders of a ladder and places them by one request, and tells what became of them. Throws an Error that says why nothing was
 * sent: a key that needs a prompt for each order signs no ladder.
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
  const unknown = errors.filter((error) => error instanceof OutcomeUnknown).length
  const refused = errors.length - unknown
  const parts = [
    placed,
    ...(refused === 0 ? [] : [`${refused} not placed`]),
    ...(unknown === 0 ? [] : [`${unknown} without an answer, which may still appear`]),
  ]
  tell(`${parts.join(', ')}: ${[...new Set(errors.map(wordsOf))].join(' ')}`, 'bad')
}

type RungOutcome = { readonly record: OrderRecord } | { readonly error: unknown }

/** What became of each. The batch sends nothing twice: one without an outcome is sent again by itself, as the same bytes. */
async function outcomesOf(
  venue: Pick<RestClient, 'placeOrders' | 'placeOrder'>,
  bodies: readonly NewOrder[],
): Promise<readonly RungOutcome[]> {
  const results = await venue.placeOrders(bodies).catch((error: unknown) => {
    if (error instanceof OutcomeUnknown) return []
    throw error
  })
  const outcomes: RungOutcome[] = []
  for (const [at, body] of bodies.entries()) {
    const result = results[at]
    if (result?.status === 200) outcomes.push({ record: result.order as OrderRecord })
    else if (result !== undefined && result.status < 500 && result.status !== 409)
      outcomes.push({ error: new Error(refusalOf(result)) })
    else
      outcomes.push(
        await venue.placeOrder(body).then(
          (record) => ({ record }),
          (error: unknown) => ({ error }),
        ),
      )
  }
  return outcomes
}

function refusalOf(result: object): string {
  const { error, message } = result as { readonly error?: unknown; readonly message?: unknown }
  return typeof message === 'string' ? message : String(error)
}
