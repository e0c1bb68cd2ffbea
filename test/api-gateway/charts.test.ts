import { expect } from 'chai'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { feedOf } from '../support/market-feed.js'
import { aHistoryGateway, type HistoryGateway } from './stage/history-gateway.js'
import { TRADES } from './stage/traded-story.js'

const MARKETS = [aMarket(), aPerp(), aFuture()]
const FIRST_SEC = Date.parse('2026-01-01T00:00:00Z') / 1_000
const LAST_SEC = FIRST_SEC + 5_400
const NOW_MS = Date.parse('2026-01-01T02:00:30Z')

describe('the datafeed of charts', () => {
  let gateway: HistoryGateway
  before(async () => {
    gateway = await aHistoryGateway({ markets: MARKETS, nowMs: () => NOW_MS })
    for (const market of MARKETS)
      gateway.project(feedOf({ market: market.market, ordinal: market.ordinal }, TRADES))
  })
  after(() => gateway.close())

  const read = async (path: string) => {
    const answer = await gateway.get(`/udf/${path}`)
    expect([path, answer.status]).to.deep.equal([path, 200])
    return answer
  }
  const bars = async (query: string) => (await read(`history?${query}`)).json

  it('says what it can do, and what time it is', async () => {
    const { json } = await read('config')
    expect(json).to.deep.include({ supports_search: true, supports_group_request: false })
    const { text, headers } = await read('time')
    expect(text).to.equal(`${NOW_MS / 1_000}`)
    expect(headers['content-type']).to.match(/^text\/plain/)
  })

  it('resolves symbols of all markets, and finds them', async () => {
    for (const { market } of MARKETS) {
      const { json } = await read(`symbols?symbol=${market}`)
      expect(json).to.include({ name: market, ticker: market, session: '24x7' })
      const found = (await read(`search?query=${market.toLowerCase()}&limit=5`)).text
      const [first] = JSON.parse(found) as { symbol: string; ticker: string }[]
      expect(first).to.include({ symbol: market, ticker: market })
    }
    expect((await read('symbols?symbol=Venue:cNGN-USDC')).json.name).to.equal('cNGN-USDC')
    const { json, headers } = await read('symbols?symbol=USDCcNGN-SPOT')
    expect([json.name, headers.deprecation]).to.deep.equal(['cNGN-USDC', 'true'])
  })

  it('prices USDC in cNGN on spot, and as the engine does on the others', async () => {
    const range = `resolution=1&from=${FIRST_SEC}&to=${NOW_MS / 1_000}`
    expect(await bars(`symbol=cNGN-USDC&${range}`)).to.deep.equal({
      s: 'ok',
      t: [FIRST_SEC, LAST_SEC],
      o: [1.25, 2],
      h: [1.25, 2],
      l: [1, 2],
      c: [1, 2],
      // 2 cNGN at 0.8 and 1 at 1 are 2.6 USDC.
      v: [2.6, 2],
    })
    for (const market of ['cNGN-PERP', 'USDC-cNGN-30NOV26'])
      expect(await bars(`symbol=${market}&${range}`)).to.deep.equal({
        s: 'ok',
        t: [FIRST_SEC, LAST_SEC],
        o: [0.8, 0.5],
        h: [1, 0.5],
        l: [0.8, 0.5],
        c: [1, 0.5],
        v: [3, 4],
      })
    const days = await bars(`symbol=cNGN-PERP&resolution=1D&from=0&to=${NOW_MS / 1_000}`)
    expect(days)
      .to.include({ s: 'ok' })
      .and.deep.include({ t: [FIRST_SEC], h: [1], l: [0.5] })
  })

  it('answers so many bars before a time, whatever the range is (REA-061)', async () => {
    const counted = async (count: number, to: number, from = to) =>
      bars(`symbol=cNGN-PERP&resolution=1&from=${from}&to=${to}&countback=${count}`)
    expect(await counted(1, LAST_SEC + 1)).to.deep.include({ t: [LAST_SEC] })
    expect(await counted(1, LAST_SEC)).to.deep.include({ t: [FIRST_SEC] })
    expect(await counted(9_999, LAST_SEC + 60)).to.deep.include({ t: [FIRST_SEC, LAST_SEC] })
    expect(await counted(3, FIRST_SEC)).to.deep.equal({ s: 'no_data' })
  })

  it('says where older bars are when a range has none (REA-061)', async () => {
    const within = (from: number, to: number) =>
      bars(`symbol=cNGN-PERP&resolution=1&from=${from}&to=${to}`)
    const gap = await within(FIRST_SEC + 60, LAST_SEC)
    expect(gap).to.deep.equal({ s: 'no_data', nextTime: FIRST_SEC })
    expect(await within(-86_400, FIRST_SEC)).to.deep.equal({ s: 'no_data' })
    expect(await within(LAST_SEC + 60, LAST_SEC + 600)).to.deep.include({ nextTime: LAST_SEC })
    // A range that ends before it begins.
    expect(await within(LAST_SEC + 60, FIRST_SEC)).to.deep.equal({ s: 'no_data' })
  })

  it('is kept for as long as it may be, and an unchanged answer is not sent again', async () => {
    const paths = ['config', 'symbols?symbol=cNGN-USDC', 'search?query=']
    for (const path of [...paths, 'history?symbol=cNGN-USDC&resolution=60&countback=2']) {
      const { headers } = await read(path)
      expect(headers['cache-control'], path).to.match(/^public, max-age=\d+$/)
      const again = await gateway.send('GET', `/udf/${path}`, {
        headers: { 'if-none-match': String(headers.etag) },
      })
      expect([again.status, again.text, again.headers.etag]).to.deep.equal([304, '', headers.etag])
      expect(again.headers.vary).to.match(/Origin/)
    }
  })

  it('says how much of the feed its bars show, and waits for what is asked', async () => {
    const path = 'history?symbol=cNGN-PERP&resolution=1&countback=1'
    const shown = (await read(path)).headers['x-feed-seq']
    expect(shown).to.match(/^cNGN-PERP=\d+$/)
    await read(`${path}&min_seq=${String(shown)}`)
    const ahead = await gateway.get(`/udf/${path}&min_seq=cNGN-PERP=999999`)
    expect([ahead.status, ahead.json.code]).to.deep.equal([503, 'min_seq_ahead'])
    expect(ahead.json.s).to.equal('error')
  })

  it('refuses in its own words, and no cache keeps that (REA-062)', async () => {
    const symbol = 'symbol=cNGN-USDC'
    const refused: readonly (readonly [path: string, code: string, words: string])[] = [
      ['symbols', 'unknown_market', 'symbol or asset_address is required'],
      ['symbols?symbol=NOPE', 'unknown_market', 'no such market: NOPE'],
      ['history?symbol=NOPE&resolution=1', 'unknown_market', 'no such market: NOPE'],
      [`history?${symbol}`, 'invalid_resolution', 'resolution must be one of'],
      [`history?${symbol}&resolution=2`, 'invalid_resolution', 'resolution must be one of'],
      [`history?${symbol}&resolution=1&from=x`, 'invalid_from', 'from must be a unix time'],
      [`history?${symbol}&resolution=1&to=1.5`, 'invalid_to', 'to must be a unix time'],
      [`history?${symbol}&resolution=1&countback=0`, 'invalid_countback', 'countback must be'],
      ['search?query=a&query=b', 'invalid_search', 'query, type and exchange must be one'],
      ['search?limit=0', 'invalid_search_limit', 'limit must be between 1 and 100'],
      [`history?${symbol}&resolution=1&min_seq=7`, 'invalid_min_seq', 'min_seq must be'],
    ]
    for (const [path, code, words] of refused) {
      const { status, json, headers } = await gateway.get(`/udf/${path}`)
      expect([path, status, json.s, json.code]).to.deep.equal([path, 400, 'error', code])
      expect(json.errmsg, path).to.contain(words)
      expect(headers['cache-control']).to.equal('no-store')
    }
  })
})
