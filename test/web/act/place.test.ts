import { mock } from 'node:test'
import { signal } from '@preact/signals'
import { expect } from 'chai'
import { recoverAddress } from 'viem'
import {
  OutcomeUnknown,
  VenueRefused,
  type NewOrder,
  type OrderRecord,
} from '../../../client/index.js'
import { createPlacing } from '../../../web/act/place.js'
import type { TicketPlan } from '../../../web/select/planned.js'
import type { Views } from '../../../web/state/views.js'
import { TYPED } from '../typed-ticket.js'
import { anOwn, anotherOwn, fakeTerminal } from './fake-terminal.js'

const PLANNED = {
  plan: { side: 'sell', limitE18: 625_000_000_000_000n, amountE18: 10n ** 21n, worstFeeBps: 10n },
  guards: [],
} as unknown as TicketPlan

type Answer = (order: NewOrder) => Promise<OrderRecord>
const silence: Answer = () => Promise.reject(new OutcomeUnknown('no answer'))
const taken: Answer = ({ order_id }) =>
  Promise.resolve({ order_id, status: 'active' } as OrderRecord)

/** A ticket that is filled; the venue gives these answers, and then takes everything. */
function aTicket(...answers: Answer[]) {
  const sent: NewOrder[] = []
  const page = fakeTerminal({
    placeOrder(order) {
      sent.push(order)
      return (answers.shift() ?? taken)(order)
    },
  })
  page.ticket.value.size.value = '10'
  const views = { planned: signal(PLANNED), typed: signal(TYPED) } as unknown as Views
  const placing = createPlacing(page.terminal, views)
  const [market] = page.markets
  if (market === undefined) throw new Error('no market')
  const given = { market, subaccountId: '7', typed: TYPED, livesSec: 600 }
  const placePlan = (): Promise<unknown> =>
    placing.placePlan(PLANNED, given).then(
      () => undefined,
      (error: unknown) => error,
    )
  return { ...page, placing, placePlan, sent }
}

const shown = ({ placing }: ReturnType<typeof aTicket>): readonly string[] =>
  placing.sent.value.map(({ market, sent }) => `${market} ${sent.stage}`)

// Toasts and refused rows end by timers.
const holdTimers = (): void => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())
}

describe('web/act: an order of the ticket', () => {
  holdTimers()

  it('is sent once, shown until the venue has it, and leaves an empty ticket', async () => {
    const page = aTicket()
    await page.placing.press()
    expect(page.sent).to.have.length(1)
    expect(shown(page)).to.deep.equal([])
    expect(page.ticket.value.size.value).to.equal('')
    expect(page.placing.isUnanswered.value).to.equal(false)
  })

  it('is the same bytes again after silence, also under a new state of its owner', async () => {
    const page = aTicket(silence)
    await page.placing.press()
    expect(page.placing.isUnanswered.value).to.equal(true)
    // A renewed key, a chain that is left and chosen again: the same owner.
    page.own.value = undefined
    expect(page.placing.isUnanswered.value).to.equal(false)
    page.own.value = anOwn()
    expect(page.placing.isUnanswered.value).to.equal(true)
    await page.placing.press()
    expect(page.sent).to.have.length(2)
    expect(page.sent[1]).to.equal(page.sent[0])
    expect(page.placing.isUnanswered.value).to.equal(false)
  })

  it('is not sent again under another owner, and still is under its own after that', async () => {
    const page = aTicket(silence)
    const mine = page.own.value
    await page.placing.press()
    page.own.value = anotherOwn()
    expect(page.placing.isUnanswered.value).to.equal(false)
    await page.placing.press()
    expect(page.sent[1]?.order_id).to.not.equal(page.sent[0]?.order_id)
    page.own.value = mine
    expect(page.placing.isUnanswered.value).to.equal(true)
    await page.placing.press()
    expect(page.sent[2]).to.equal(page.sent[0])
  })

  it('is another one once the ticket has changed', async () => {
    const page = aTicket(silence)
    await page.placing.press()
    page.placing.forget()
    expect(page.placing.isUnanswered.value).to.equal(false)
    await page.placing.press()
    expect(page.sent[1]?.order_id).to.not.equal(page.sent[0]?.order_id)
  })

  it('keeps its market when it is sent again from another, whose ticket stays', async () => {
    const page = aTicket(silence, silence)
    await page.placing.press()
    const [first, second] = page.markets.map(({ name }) => name)
    page.open(second ?? '')
    await page.placing.press()
    expect(shown(page)).to.deep.equal([`${first} unknown`])
    await page.placing.press()
    expect(page.sent.map((order) => order === page.sent[0])).to.deep.equal([true, true, true])
    expect(page.ticket.value.size.value).to.equal('10')
  })

  it('is shown to its owner alone, and not beside the order of the venue', async () => {
    const page = aTicket(silence, () =>
      Promise.reject(new VenueRefused(400, 'too_small', 'too small', {})),
    )
    const mine = page.own.value
    await page.placing.press()
    page.placing.forget()
    await page.placing.press()
    expect(shown(page).map((words) => words.split(' ')[1])).to.deep.equal(['refused', 'unknown'])
    page.own.value = anotherOwn()
    expect(shown(page)).to.deep.equal([])
    page.own.value = mine
    mine?.note({ order_id: page.sent[0]?.order_id } as OrderRecord)
    expect(shown(page).map((words) => words.split(' ')[1])).to.deep.equal(['refused'])
    mock.timers.tick(60_000)
    expect(shown(page)).to.deep.equal([])
  })

  it('is not sent where the account has changed while it was signed, and says so', async () => {
    const page = aTicket()
    const pressed = page.placing.press()
    page.own.value = anotherOwn()
    await pressed
    expect(page.sent).to.deep.equal([])
    expect(page.placing.said.value).to.match(/account has changed.*nothing was sent/)
    expect(page.ticket.value.size.value).to.equal('10')
    expect(page.placing.sent.value).to.deep.equal([])
  })
})

describe('web/act: a refused order', () => {
  holdTimers()

  it('comes back into the ticket of its market whole, to be edited', async () => {
    const page = aTicket(() => Promise.reject(new VenueRefused(400, 'bad', 'bad', {})))
    await page.placing.press()
    page.open(page.markets[1]?.name ?? '')
    const { ticket, placing } = page
    ticket.value.reduceOnly.value = true
    placing.edit(placing.sent.value[0]?.id ?? '')
    const { kind, side, price, size, force, post, reduceOnly } = ticket.value
    const fields = [kind, side, price, size, force, post, reduceOnly].map(({ value }) => value)
    expect(fields).to.deep.equal(['limit', 'buy', '1600', '10', 'GTC', 'off', false])
    expect([page.market.value?.name, placing.sent.value]).to.deep.equal(['cNGN-USDC', []])
  })
})

describe('web/act: the digest of what a press signs', () => {
  holdTimers()
  const nonces = ({ sent }: ReturnType<typeof aTicket>) => sent.map(({ nonce }) => nonce)

  it('is of the very order that is signed, once, where nothing of it has changed', async () => {
    const page = aTicket()
    const { drafts } = page.placing
    expect(drafts.shown.value).to.equal(undefined)
    drafts.isShown.value = true
    const { digest, order } = drafts.shown.value ?? expect.fail('nothing is shown')
    page.nowSec.value += 1
    expect(drafts.shown.value?.digest).to.equal(digest)
    await page.placing.press()
    const [body] = page.sent
    expect([body?.nonce, body?.order_id]).to.deep.equal([`${order.nonce}`, order.orderId])
    const signer = await recoverAddress({
      hash: digest as `0x${string}`,
      signature: body?.signature as `0x${string}`,
    })
    expect(signer).to.equal(page.own.value?.trader.owner)
    expect(drafts.shown.value?.digest).to.not.equal(digest)
    page.ticket.value.size.value = '10'
    await page.placing.press()
    expect(new Set(nonces(page)).size).to.equal(2)
  })

  it('is another one for other terms, another account, and after a minute', () => {
    const page = aTicket()
    const { drafts } = page.placing
    drafts.isShown.value = true
    const seen = new Set([drafts.shown.value?.digest])
    page.ticket.value.livesSec.value = 86_400
    seen.add(drafts.shown.value?.digest)
    page.own.value = anotherOwn()
    seen.add(drafts.shown.value?.digest)
    page.nowSec.value += 60
    seen.add(drafts.shown.value?.digest)
    expect([seen.size, seen.has(undefined)]).to.deep.equal([4, false])
    page.own.value = undefined
    expect(drafts.shown.value).to.equal(undefined)
  })
})

describe('web/act: a plan of another dialog', () => {
  holdTimers()

  it('is signed and sent', async () => {
    const page = aTicket()
    expect(await page.placePlan()).to.equal(undefined)
    expect(page.sent).to.have.length(1)
  })

  it('is not signed again while an order has no answer', async () => {
    const page = aTicket(silence)
    expect(await page.placePlan()).to.be.instanceOf(OutcomeUnknown)
    expect(String(await page.placePlan())).to.match(/no answer yet/)
    expect(page.sent).to.have.length(1)
    await page.placing.press()
    expect(page.sent[1]).to.equal(page.sent[0])
    expect(await page.placePlan()).to.equal(undefined)
    expect(page.sent).to.have.length(3)
  })
})
