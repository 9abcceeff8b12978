/** Values of the routing header `x-region` (service interface, What the service does). */
export const REGIONS = ['EU', 'IN', 'US', 'UK'] as const
export type Region = (typeof REGIONS)[number]

/** The one currency of each region (assumed, decisions §4). */
export const CURRENCY_OF = { EU: 'EUR', IN: 'INR', US: 'USD', UK: 'GBP' } as const satisfies Record<Region, string>
/** Returns the region of a currency. */
export const regionOf = (currency: Currency): Region =>
  REGIONS.find(region => CURRENCY_OF[region] === currency) as Region

export const CURRENCIES = ['EUR', 'INR', 'USD', 'GBP'] as const
export type Currency = (typeof CURRENCIES)[number]
