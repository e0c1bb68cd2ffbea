import { expect } from 'chai'
import { createServer } from 'node:http'
import { closeServer, listen } from '../../runtime/http/server.js'
import { executorRequests, send, wrongOf } from './stage/fuzzed-traffic.js'

/** What the traffic of `fuzz.test.ts` takes for a fault. */
describe('made up requests', () => {
  const request = { method: 'POST', path: '/v1/orders', body: '{}', headers: {} }
  const error = { error: 'why', code: 'outcome_unknown', request_id: 'r' }

  /** How often a server is asked that gives these statuses in turn, the last one again and again, and whether it is at fault. */
  const sendTo = async (statuses: readonly number[], retryAfter?: string) => {
    let asked = 0
    const server = createServer((_request, response) => {
      const status = statuses[Math.min(asked, statuses.length - 1)] ?? 200
      asked += 1
      response.setHeader('Content-Type', 'application/json; charset=utf-8')
      response.setHeader('X-Request-Id', 'r')
      if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter)
      response.writeHead(status).end(JSON.stringify(error))
    })
    const port = await listen(server, 0, '127.0.0.1')
    const wrong = wrongOf(request, await send(`http://127.0.0.1:${port}`, request))
    await closeServer(server, 0)
    const isBroken = wrong.some((each) => each.startsWith('POST /v1/orders -> 500'))
    return { asked, isBroken }
  }

  it('are sent again while the venue advises that', async () => {
    expect(await sendTo([500, 500, 404], '0')).to.deep.equal({ asked: 3, isBroken: false })
  })

  it('are made with any seed', () => {
    // It draws an object whose `toString` is not a function.
    expect(executorRequests('secret', 1_741_582_272, 250)).to.have.length(250)
  })

  it('are answered wrongly by a venue that stays busy, or says no more than that it broke', async () => {
    expect(await sendTo([500], '0')).to.deep.equal({ asked: 30, isBroken: true })
    expect(await sendTo([500, 404])).to.deep.equal({ asked: 1, isBroken: true })
  })
})
