import { expect } from 'chai'
import { type GatewayStage, aGatewayStage } from '../support/gateway-stage.js'

/** Each page with what it must load, the types of its files, and where they are. */
const pages = {
  '/docs': {
    loads: ['/docs/swagger-ui-bundle.js', '/docs/start.js', '/v1/openapi.json'],
    folder: '/docs',
    files: {
      'swagger-ui.css': 'text/css; charset=utf-8',
      'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
      'start.js': 'text/javascript; charset=utf-8',
      'favicon-32x32.png': 'image/png',
    },
  },
  '/': {
    loads: ['/web/main.js', '/web/style.css', '/docs', '/v1/venue'],
    folder: '/web',
    files: {
      'main.js': 'text/javascript; charset=utf-8',
      'draw-chart.js': 'text/javascript; charset=utf-8',
      'style.css': 'text/css; charset=utf-8',
    },
  },
}

const ELSEWHERE = [
  ...['../package.json', '..%2fpackage.json', '..%2f..%2fpackage.json', '%2e%2e%2fpackage.json'],
  ...['....//package.json', 'package.json', 'absolute-path.js', 'index.html', 'main.js%00'],
  ...['swagger-ui.css.map', '%2fetc%2fpasswd', '__proto__', 'constructor'],
]

describe('the pages for browsers', () => {
  let gateway: GatewayStage
  before(async () => {
    gateway = await aGatewayStage()
  })
  after(() => gateway.close())
  const get = (path: string) => gateway.send('GET', path)

  for (const [path, { loads, folder, files }] of Object.entries(pages)) {
    describe(path, () => {
      it('loads only what the gateway serves, by a policy that allows nothing else', async () => {
        const { status, headers, text } = await get(path)
        expect(status).to.equal(200)
        expect(headers['content-type']).to.equal('text/html; charset=utf-8')
        const policy = `${headers['content-security-policy']?.toString()}`
        expect(policy).to.match(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
        expect(policy).not.to.match(/unsafe|https?:|\*/)
        // A link may lead elsewhere: only what is loaded may not.
        expect(text.replaceAll(/<a [^>]*>/g, '')).not.to.match(
          /<script>|<style|https?:|\/\/|\son\w+=/,
        )
        const named = [...text.matchAll(/(?:src|href)="([^":]+)"/g)]
        const loaded = named.map(([, name = '']) => new URL(name, `http://venue${path}`).pathname)
        expect(loaded).to.include.members(loads)
        for (const name of loaded) expect((await get(name)).status, name).to.equal(200)
      })

      it('serves its files as what they are', async () => {
        for (const [name, type] of Object.entries(files)) {
          const { headers, text } = await get(`${folder}/${name}`)
          expect(headers['content-type']).to.equal(type)
          expect(headers['x-content-type-options']).to.equal('nosniff')
          expect(text.length, name).to.be.above(100)
        }
      })

      it('serves no other file', async () => {
        for (const name of ELSEWHERE) {
          const { status, json } = await get(`${folder}/${name}`)
          expect([name, status]).to.deep.equal([name, 404])
          expect(json.error).to.equal('no such path')
        }
      })
    })
  }

  it('start the document of the interface without another host', async () => {
    const { text } = await get('/docs/start.js')
    expect(text)
      .to.contain('"v1/openapi.json"')
      .and.contain('"docs/examples.json"')
      .and.not.to.match(/https?:/)
  })
})
