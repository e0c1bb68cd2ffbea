import type { MarketEntry } from '../client/index.js'
import type { VenueFacts } from '../interface/signing.js'
import { createAccountView } from './account-view.js'
import { createDemoAccount } from './demo-account.js'
import { byId, el } from './dom.js'
import { showMarket } from './market-view.js'
import { createSession } from './session.js'

/** The market page: public endpoints and the client only. One market is open at a time, named by the part after `#`. */

const base = new URL('.', location.href).href
const facts = (await (await fetch(new URL('v1/venue', base))).json()) as VenueFacts
const accounts = createAccountView(
  {
    chain_id: facts.chain_id,
    matching: facts.domains.actions.verifyingContract,
    demo: createDemoAccount(base, facts),
  },
  () => void open(),
)
const session = createSession(base, facts, accounts.account)

let close: () => void = () => undefined
let opening = 0

/** Opens the market that the address names, or the first that trades. */
async function open(): Promise<void> {
  const mine = ++opening
  const name = decodeURIComponent(location.hash.slice(1))
  const markets = await session.venue.markets()
  if (mine !== opening) return
  const trading = markets.find(({ trading_status: status }) => status === 'open')
  const market = markets.find((each) => each.market === name) ?? trading ?? markets[0]
  showNames(markets, market)
  close()
  close = () => undefined
  if (market !== undefined) close = showMarket(market, session, accounts)
  else byId('page').replaceChildren(el('p', {}, 'This venue lists no market.'))
}

function showNames(markets: readonly MarketEntry[], current: MarketEntry | undefined): void {
  const links = markets.map(({ market, trading_status: status }) =>
    el(
      'a',
      {
        href: `#${encodeURIComponent(market)}`,
        'aria-current': market === current?.market ? 'page' : undefined,
      },
      status === 'open' ? market : `${market} (${status})`,
    ),
  )
  byId('markets').replaceChildren(...links)
  document.title = `${current?.market ?? 'No market'} – order-book venue`
}

addEventListener('hashchange', () => void open())
await open()
