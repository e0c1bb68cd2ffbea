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
    const [facts, markets, time] = await firstRead('http://venue/', again, venue)
    expect(failures).to.equal(3)
    expect([facts.chain_id, markets, time.unix_ms]).to.deep.equal([1, [], 5])
  })

  it('hides no defect of the page', async () => {
    const venue = aVenue({ ...WELL, '/v1/venue': [] })
    const failed: unknown = await firstRead('http://venue/', () => undefined, venue).catch(String)
    expect(failed).to.equal('Error: not asked')
  })
})
