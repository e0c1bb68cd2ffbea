import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recoverAddress } from 'viem'
import { codesPage } from '../../api-gateway/docs/codes-page.js'
import { renderMarkdown } from '../../api-gateway/docs/pages.js'
import { clientFrames, serverFrames } from '../../interface/socket.js'
import { actionDigest, type OrderBody } from '../../client/index.js'
import { readFrameHeader } from '../../chain/signing/verify-frame.js'
import type { Hex } from '../../core/action.js'
import { validateOrder } from '../../core/entry/validate-order.js'
import { aMarket, testPrivateKey } from '../support/builders.js'
import { addressOf } from '../support/cancel-proofs.js'
import { A_DEPLOYMENT, aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'
import { rules } from '../support/rules.js'

const CODES = new URL('../../../docs/CODES.md', import.meta.url)

const NOW_MS = Date.parse('2026-11-21T10:00:00Z')
const market = aMarket()
const deployment = { ...A_DEPLOYMENT, wrappedCngn: market.assetAddress }

describe('the examples of a devnet', () => {
  let directory: string
  let devnetFile: string
  let gateway: GatewayStage
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'devnet-'))
    devnetFile = join(directory, 'devnet.json')
    gateway = await aGatewayStage({ deployment, devnetFile, nowMs: () => NOW_MS })
  })
  after(async () => {
    await gateway.close()
    await rm(directory, { recursive: true })
  })
  const describeDevnet = (chain_id: number) =>
    writeFile(
      devnetFile,
      JSON.stringify({
        chain_id,
        matching: deployment.matching,
        accounts: [{ name: 'alice', private_key: testPrivateKey, spot_subaccount_id: '7' }],
      }),
    )
  interface Examples {
    readonly parameters: Readonly<Record<string, string>>
    readonly bodies: Readonly<Record<string, OrderBody>>
  }
  const examples = async () =>
    (await gateway.send('GET', '/docs/examples.json')).json as unknown as Examples

  it('are signed by its first account, each time anew', async () => {
    await describeDevnet(deployment.chainId)
    const { parameters, bodies } = await examples()
    const owner = addressOf(testPrivateKey)
    const order = bodies['/v1/orders'] as OrderBody
    const { action_json: action } = order
    const signing = { chainId: deployment.chainId, matching: deployment.matching }
    const digest = actionDigest(signing, {
      subaccountId: 7n,
      nonce: BigInt(order.nonce),
      module: market.tradeModuleAddress,
      data: action.data as Hex,
      expiry: BigInt(action.expiry),
      owner,
      signer: owner,
    })
    expect(
      (await recoverAddress({ hash: digest, signature: order.signature as Hex })).toLowerCase(),
    ).to.equal(owner)
    const checked = validateOrder(order, { markets: [market], nowMs: NOW_MS })
    expect(checked).to.not.have.property('refusal')
    expect(bodies['/v1/orders/cancel']).to.deep.equal({ owner_address: owner, nonce: order.nonce })
    expect(parameters).to.include({ symbol: market.market, order_id: order.order_id })
    const words = { domain: 'venue.test', product: 'service' }
    const frame = readFrameHeader(parameters['X-Service-Auth'] ?? '', {
      words,
      nowMs: () => NOW_MS,
    })
    expect(frame).to.deep.equal({ owner })
    const again = (await examples()).bodies['/v1/orders']
    expect(again?.nonce).not.to.equal(order.nonce)
  })

  it('are not signed for another venue than the one of the file', async () => {
    await describeDevnet(deployment.chainId + 1)
    expect((await examples()).bodies).to.deep.equal({})
    await writeFile(devnetFile, '{}')
    expect((await examples()).bodies).to.deep.equal({})
  })
})

describe('the documents beside the interface', () => {
  let gateway: GatewayStage
  before(async () => (gateway = await aGatewayStage()))
  after(() => gateway.close())

  for (const name of ['start', 'feed', 'codes', 'first-fill', 'rules']) {
    it(`/docs/${name} is a page that loads nothing from elsewhere, and whose links lead to pages`, async () => {
      const { status, headers, text } = await gateway.send('GET', `/docs/${name}`)
      expect(status).to.equal(200)
      expect(headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(`${headers['content-security-policy']?.toString()}`).to.match(/^default-src 'none'; /)
      const own = '<script type="module" src="find.js"></script>'
      expect(text.replace(own, '')).not.to.match(/<script|<style|style=|\son\w+=|src=/)
      const links = [...text.matchAll(/href="([^"#]+)"/g)].map(([, href = '']) => href)
      const base = 'http://venue/docs/'
      for (const href of new Set(links)) {
        const path = new URL(href, base).pathname
        expect((await gateway.send('GET', path)).status, path).to.equal(200)
      }
    })
  }

  it('fill in a listed market, and no signature where no devnet is described', async () => {
    const { json, headers } = await gateway.send('GET', '/docs/examples.json')
    const named = { symbol: 'cNGN-USDC', ticker_id: 'cNGN-USDC' }
    expect(json).to.deep.equal({ parameters: named, bodies: {} })
    expect(headers['cache-control']).to.equal('no-store')
  })

  it('begin with a page that names each limit of GET /v1/venue, with its value', async () => {
    const { text } = await gateway.send('GET', '/docs/start')
    const limits = (await gateway.send('GET', '/v1/venue')).json.limits as Record<string, number>
    for (const [name, value] of Object.entries(limits)) {
      const shown = `<td><code>${name}</code></td>\n<td>${value.toLocaleString('en')}</td>`
      if (name !== 'large_reads_per_address') expect(text).to.include(shown)
      else expect(text).to.include(`<td><code>${name}</code></td>\n<td>as set</td>`)
    }
    expect(text).to.not.include('limits --')
  })

  it('have a table of contents where they are long, whose links lead to headings', async () => {
    for (const name of ['start', 'feed', 'codes', 'rules']) {
      const { text } = await gateway.send('GET', `/docs/${name}`)
      const [, contents = ''] = /aria-label="Contents">([^]*?)<\/nav>/.exec(text) ?? []
      const ids = [...contents.matchAll(/href="#([^"]+)"/g)].map(([, id = '']) => id)
      expect(ids.length, name).to.be.above(4)
      for (const id of ids) expect(text).to.match(new RegExp(`<h[23] id="${id}">`))
    }
  })

  it('show every frame of the feed with its fields', async () => {
    const { text } = await gateway.send('GET', '/docs/feed')
    for (const frame of [...Object.values(clientFrames), ...Object.values(serverFrames)]) {
      expect(text).to.include(`>${frame.meta()?.id}</h3>`)
    }
    expect(text)
      .to.include('<code>data.limit_price</code>')
      .and.to.include('<code>since_seq</code>')
  })

  it('show every rule under its id, and lead to it from the description of what states it', async () => {
    const { text } = await gateway.send('GET', '/docs/rules')
    for (const { id } of rules) expect(text).to.include(`<strong id="${id}">${id}</strong>`)
    const described = (await gateway.send('GET', '/v1/openapi.json')).text
    const links = [...described.matchAll(/docs\/rules#([A-Za-z0-9-]+)/g)].map(([, id]) => id)
    expect(links).to.include('ORD-042').and.to.include('orders')
    for (const id of new Set(links)) expect(text).to.include(` id="${id}"`)
  })

  it('docs/CODES.md is made of the tables', () => {
    // `WRITE_DOCS=1` writes it.
    if (process.env.WRITE_DOCS === '1') writeFileSync(CODES, codesPage())
    expect(readFileSync(CODES, 'utf8')).to.equal(codesPage())
  })

  it('are rendered without any markup of their source', () => {
    const html = renderMarkdown(
      '# A <b> & `<i>`\n\n- one\n  more\n- [two](codes)\n\n```\n<p>\n```\n\n| a | b |\n| - | - |\n| 1 | "2" |',
    )
    expect(html.replaceAll(/\n+/g, '')).to.equal(
      [
        '<h1 id="a-b-i-">A &lt;b&gt; &amp; <code>&lt;i&gt;</code></h1>',
        '<ul><li>onemore</li><li><a href="codes">two</a></li></ul>',
        '<pre><code>&lt;p&gt;</code></pre>',
        '<table><thead><tr><th>a</th><th>b</th></tr></thead>',
        '<tbody><tr><td>1</td><td>&quot;2&quot;</td></tr></tbody></table>',
      ].join(''),
    )
  })
})
