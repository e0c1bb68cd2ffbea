import { expect } from 'chai'
import { clockOf, momentOf } from '../../../web/views/time.js'

describe('web/views: times', () => {
  it('are of UTC or of the clock on the wall', () => {
    const iso = '2026-09-05T23:08:09.999Z'
    expect([clockOf(iso, true), momentOf(iso, true)]).to.deep.equal(['23:08:09', '05 Sep 23:08:09'])
    const here = new Date(2026, 0, 31, 7, 8, 9).toISOString()
    expect([clockOf(here, false), momentOf(here, false)]).to.deep.equal([
      '07:08:09',
      '31 Jan 07:08:09',
    ])
  })
})
