import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { codesPage } from '../../api-gateway/docs/codes-page.js'
import { renderMarkdown } from '../../api-gateway/docs/render-markdown.js'
import { clientFrames, serverFrames } from '../../interface/socket.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

const CODES = new URL('../../../docs/CODES.md', import.meta.url)

describe('the documents beside the interface', () => {
  let gateway: GatewayStage
  before(async () => (gateway = await aGatewayStage()))
  after(() => gateway.close())

  for (const name of ['feed', 'codes', 'first-fill']) {
    it(`/docs/${name} is a page that loads nothing from elsewhere, and whose links lead to pages`, async () => {
      const { status, headers, text } = await gateway.send('GET', `/docs/${name}`)
      expect(status).to.equal(200)
      expect(headers['content-type']).to.equal('text/html; charset=utf-8')
      expect(`${headers['content-security-policy']?.toString()}`).to.match(/^default-src 'none'; /)
      expect(text).not.to.match(/<script|<style|style=|\son\w+=|src=/)
      const links = [...text.matchAll(/href="([^"#]+)"/g)].map(([, href = '']) => href)
      const base = 'http://venue/docs/'
      for (const href of new Set(links)) {
        const path = new URL(href, base).pathname
        expect((await gateway.send('GET', path)).status, path).to.equal(200)
      }
    })
  }

  it('show every frame of the feed with its fields', async () => {
    const { text } = await gateway.send('GET', '/docs/feed')
    for (const frame of [...Object.values(clientFrames), ...Object.values(serverFrames)]) {
      expect(text).to.include(`>${frame.meta()?.id}</h3>`)
    }
    expect(text)
      .to.include('<code>data.limit_price</code>')
      .and.to.include('<code>since_seq</code>')
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
