import { expect } from 'chai'
import { type GatewayStage, aGatewayStage } from '../support/gateway-stage.js'

describe('the page of the interface', () => {
  let gateway: GatewayStage
  before(async () => {
    gateway = await aGatewayStage()
  })
  after(() => gateway.close())
  const get = (path: string) => gateway.send('GET', path)

  it('loads only what the gateway serves, by a policy that allows nothing else', async () => {
    const { status, headers, text } = await get('/docs')
    expect(status).to.equal(200)
    expect(headers['content-type']).to.equal('text/html; charset=utf-8')
    const policy = `${headers['content-security-policy']?.toString()}`
    expect(policy).to.match(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
    expect(policy).not.to.match(/unsafe|https?:|\*/)
    expect(text).not.to.match(/<script>|<style|https?:|\/\/|\son\w+=/)

    const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => `/${path ?? ''}`)
    expect(loaded).to.include.members(['/docs/swagger-ui-bundle.js', '/v1/openapi.json'])
    for (const path of loaded) expect((await get(path)).status, path).to.equal(200)
  })

  it('serves its files as what they are', async () => {
    const types = {
      'swagger-ui.css': 'text/css; charset=utf-8',
      'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
      'start.js': 'text/javascript; charset=utf-8',
      'favicon-32x32.png': 'image/png',
    }
    for (const [name, type] of Object.entries(types)) {
      const { headers, text } = await get(`/docs/${name}`)
      expect(headers['content-type']).to.equal(type)
      expect(headers['x-content-type-options']).to.equal('nosniff')
      expect(text.length, name).to.be.above(100)
    }
    const { text } = await get('/docs/start.js')
    expect(text)
      .to.contain("url: 'v1/openapi.json'")
      .and.not.to.match(/https?:/)
  })

  it('serves no other file', async () => {
    const names = [
      '../package.json',
      '..%2fpackage.json',
      '..%2f..%2fpackage.json',
      '%2e%2e%2fpackage.json',
      '....//package.json',
      'package.json',
      'absolute-path.js',
      'index.html',
      'swagger-ui.css%00',
      'swagger-ui.css.map',
      '%2fetc%2fpasswd',
      '__proto__',
      'constructor',
    ]
    for (const name of names) {
      const { status, json } = await get(`/docs/${name}`)
      expect([name, status]).to.deep.equal([name, 404])
      expect(json.error).to.equal('no such path')
    }
  })
})
