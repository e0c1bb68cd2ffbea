import { expect } from 'chai'
import { firstRead } from '../../../web/state/first-read.js'

const json = (body: unknown, status = 200): Response =>
  new Response(JSON.stringify(body), { status })

/** Answers each path from the first of what is left for it, the last again and again. */
function aVenue(answers: Readonly<Record<string, (() => Response)[]>>) {
  return (url: string | URL | Request): Promise<Response> => {
    const left = answers[new URL(url instanceof Request ? url.url : url).pathname] ?? []
    const answer = left.length > 1 ? left.shift() : left[0]
    return answer === undefined ? Promise.reject(new Error('not asked')) : Promise.resolve(answer())
  }
}
const WELL = { '/v1/markets': [() => json([])], '/v1/time': [() => json({ unix_ms: 5 })] }

/** A busy machine may stop between two looks at its clock. */
const TOLERATED_MS = 5_000

describe('web/state: the first read', () => {
  it('reports each failure and reads again when asked to, until all has come', async () => {
    let failures = 0
    const unreadable: (() => Response)[] = [
      () => json({ error: 'starting' }, 503),
      () => new Response('<html>'),
      () => {
        throw new TypeError('fetch failed')
      },
      () => json({ chain_id: 1 }),
    ]
    const venue = aVenue({ ...WELL, '/v1/venue': unreadable })
    const again = (run: () => void): void => {
      failures += 1
      run()
    }
    const [facts, markets, aheadMs] = await firstRead('http://venue/', again, venue)
    expect(failures).to.equal(3)
    expect([facts.chain_id, markets]).to.deep.equal([1, []])
    expect(aheadMs + Date.now()).to.be.closeTo(5, TOLERATED_MS)
  })

  it('reads the clock as of when its answer came, not of when it is read', async () => {
    const venue = aVenue({ ...WELL, '/v1/venue': [() => json({})] })
    // The browser notes when an answer came; here one that no delay of this machine comes to.
    const came = { start: performance.now() + 60_000, duration: 5 }
    performance.measure('http://venue/v1/time', came)
    const [, , aheadMs] = await firstRead('http://venue/', () => undefined, venue)
    performance.clearMeasures('http://venue/v1/time')
    expect(aheadMs + Date.now()).to.be.closeTo(-60_000, TOLERATED_MS)
  })

  it('hides no defect of the page', async () => {
    const venue = aVenue({ ...WELL, '/v1/venue': [] })
    const failed: unknown = await firstRead('http://venue/', () => undefined, venue).catch(String)
    expect(failed).to.equal('Error: not asked')
  })
})
