import { expect } from 'chai'
import { launchBrowser } from '../../bench/browser.js'

describe('bench: the browser', () => {
  it('is an error where it is not installed, which fails each test of a page', () => {
    expect(() => launchBrowser(['/nowhere/chromium'])).to.throw(/no Chromium: .* apt-get install/)
  })
})
