import { expect } from 'chai'
import { routes } from '../../api-gateway/routes.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const ALLOWED = 'https://app.example'

/** Paths of routes with a value for each parameter. */
const GETS = routes
  .filter(({ method }) => method === 'GET')
  .map(({ path }) => path.replace(/[:{]\w+\}?/g, '0'))

describe('what caches between a client and the venue are told', () => {
  let gateway: GatewayStage
  before(async () => {
    gateway = await aGatewayStage()
  })
  after(() => gateway.close())

  const headersOf = async (method: string, path: string, origin?: string) => {
    const headers = origin === undefined ? {} : { Origin: origin }
    const options = { judged: false, headers, ...(method === 'POST' && { body: {} }) }
    const { status, headers: got } = await gateway.send(method, path, options)
    return { status, cache: String(got['cache-control']), vary: String(got.vary), got }
  }

  it('is that every answer differs by Origin, also one to a request without (AUT-039)', async () => {
    expect(GETS.length).to.be.above(20)
    for (const path of [...GETS, '/nowhere']) {
      for (const origin of [undefined, ALLOWED, 'https://other.example']) {
        const { vary } = await headersOf('GET', path, origin)
        expect(vary.split(/,\s*/), `${path} from ${origin}`).to.include('Origin')
      }
    }
  })

  it('is to keep nothing that does not say for how long, and no refusal (REA-056)', async () => {
    const kept: string[] = []
    for (const path of [...GETS, '/nowhere']) {
      const { status, cache } = await headersOf('GET', path)
      expect(cache, path).not.to.equal('undefined')
      if (status >= 400) expect(cache, path).to.equal('no-store')
      if (cache.includes('public')) kept.push(path)
    }
    expect(kept).to.include.members(['/v1/integrations/tickers', '/v1/openapi.json'])
    // Nothing of an owner, and nothing that a signed frame opens.
    for (const path of kept) {
      expect(path).to.match(/^\/(v1\/(integrations|openapi|asyncapi|signing)|udf|docs|page|assets)/)
    }
    for (const path of ['/v1/orders', '/v1/orders/cancel', '/v1/orders/validate']) {
      expect((await headersOf('POST', path)).cache, path).to.equal('no-store')
    }
  })

  it('is to keep a compressed body apart from a plain one', async () => {
    const { vary, got } = await headersOf('GET', '/v1/book?symbol=cNGN-USDC', ALLOWED)
    expect(vary.split(/,\s*/)).to.include.members(['Accept-Encoding', 'Origin'])
    expect(got).to.have.property('etag')
    expect(got['access-control-allow-origin']).to.equal(ALLOWED)
  })
})
