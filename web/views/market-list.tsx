import type { JSX } from 'preact'
import { lastPrice } from '../select/header-facts.js'
import { linkOf } from '../select/link.js'
import { marketTerms } from '../select/market-terms.js'
import { usePage } from './page.js'

/** All markets with their last price and their day; favourites first. */
export function MarketList(): JSX.Element {
  const { terminal } = usePage()
  const { prefs, set } = terminal.prefs
  const { favourites } = prefs.value
  const isFavourite = (name: string): boolean => favourites.includes(name)
  const markets = [...terminal.markets.value].sort(
    (a, b) => Number(isFavourite(b.market)) - Number(isFavourite(a.market)),
  )
  const toggle = (name: string) => () =>
    set({
      favourites: isFavourite(name)
        ? favourites.filter((each) => each !== name)
        : [...favourites, name],
    })
  return (
    <nav class="markets" aria-label="Markets">
      <ul>
        {markets.map((entry) => {
          const { market: name, trading_status: status } = entry
          const last = lastPrice(entry, marketTerms(entry), terminal.tickers.value.get(name))
          return (
            <li key={name}>
              <button
                type="button"
                class="star"
                aria-pressed={isFavourite(name)}
                aria-label={`Favourite ${name}`}
                onClick={toggle(name)}
              >
                {isFavourite(name) ? '★' : '☆'}
              </button>
              <a
                href={linkOf(name)}
                aria-current={name === terminal.market.value?.name ? 'page' : undefined}
              >
                <span>{name}</span>
                <span>{last?.price ?? '–'}</span>
                <span class="quiet">{status === 'open' ? '' : status}</span>
                <span class={last?.isDown === true ? 'ask' : 'bid'}>{last?.change ?? ''}</span>
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
