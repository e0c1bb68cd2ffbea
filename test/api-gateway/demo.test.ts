import { expect } from 'chai'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const PATH = '/v1/devnet/demo'
const OWNER = `0x${'Ab'.repeat(20)}`
const GIVEN = {
  address: OWNER.toLowerCase(),
  spot_subaccount_id: '20',
  perp_subaccount_id: '21',
}

describe('POST /v1/devnet/demo', () => {
  let gateway: GatewayStage
  let giver: Server
  let answer: { readonly status: number; readonly body: unknown }
  let asked: string[]

  beforeEach(async () => {
    asked = []
    answer = { status: 200, body: GIVEN }
    giver = createServer((request, response) => {
      let text = ''
      request.on('data', (part) => (text += String(part)))
      request.on('end', () => {
        asked.push(text)
        response.statusCode = answer.status
        response.end(JSON.stringify(answer.body))
      })
    })
    await new Promise<void>((resolve) => giver.listen(0, '127.0.0.1', resolve))
    const { port } = giver.address() as AddressInfo
    const demoUrl = `http://127.0.0.1:${port}`
    const devnet = { demo_accounts: PATH }
    gateway = await aGatewayStage({
      demoUrl,
      devnet,
      isAllowedOrigin: (origin) => origin === 'http://here',
    })
  })
  afterEach(async () => {
    await gateway.close()
    giver.closeAllConnections()
    giver.close()
  })

  const ask = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    gateway.send('POST', PATH, { body: JSON.stringify(body), headers })

  it('answers the accounts, and says in /v1/venue where to ask', async () => {
    const { status, json: body } = await ask({ address: OWNER })
    expect([status, body]).to.deep.equal([200, GIVEN])
    expect(asked).to.deep.equal([JSON.stringify({ address: OWNER.toLowerCase() })])
    const venue = (await gateway.send('GET', '/v1/venue')).json as {
      devnet?: { demo_accounts: string }
    }
    expect(venue.devnet?.demo_accounts).to.equal(PATH)
  })

  it('asks for nothing without an address, and for no page of another origin', async () => {
    for (const address of [undefined, 7, '0x12', `0x${'g'.repeat(40)}`]) {
      const { status, json: body } = await ask({ address })
      expect(status).to.equal(400)
      expect(body).to.include({ code: 'invalid_address', field: 'address' })
    }
    const elsewhere = await ask({ address: OWNER }, { Origin: 'http://there' })
    expect(elsewhere.status).to.equal(403)
    expect(asked).to.deep.equal([])
    const here = await ask({ address: OWNER }, { Origin: 'http://here' })
    expect(here.status).to.equal(200)
  })

  it('says when to ask again, or that there are no more', async () => {
    const cases = [
      [429, 429, 'demo_accounts_busy', '60'],
      [409, 409, 'demo_accounts_exhausted', undefined],
      [503, 503, 'demo_accounts_unavailable', '1'],
    ] as const
    for (const [told, status, code, after] of cases) {
      answer = { status: told, body: { error: 'so' } }
      const refused = await ask({ address: OWNER })
      expect(refused.status).to.equal(status)
      expect(refused.json).to.include({ code })
      expect(refused.headers['retry-after']).to.equal(after)
    }
  })

  it('does not know it while the process that gives them is down', async () => {
    giver.closeAllConnections()
    giver.close()
    const { status, json: body } = await ask({ address: OWNER })
    expect([status, (body as { code: string }).code]).to.deep.equal([
      ...[503, 'demo_accounts_unavailable'],
    ])
  })
})

describe('POST /v1/devnet/demo of a venue that is not a devnet', () => {
  it('answers 404', async () => {
    const gateway = await aGatewayStage()
    const sent = { body: JSON.stringify({ address: OWNER }) }
    const { status, json: body } = await gateway.send('POST', PATH, sent)
    expect([status, (body as { code: string }).code]).to.deep.equal([404, 'demo_accounts_off'])
    const venue = (await gateway.send('GET', '/v1/venue')).json
    expect(venue).not.to.have.property('devnet')
    await gateway.close()
  })
})
