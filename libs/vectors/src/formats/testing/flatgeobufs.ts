import { brotliDecompressSync } from 'node:zlib'

/**
 * Three points in UTM zone 33 with fields of six types and an index, as GDAL writes them:
 * `ogr2ogr -f FlatGeobuf -t_srs EPSG:32633`.
 */
export const POINTS_FGB = brotliDecompressSync(
  Buffer.from(
    'G3cKICwKbGN+oBfE0LpfYxYCZ8G1CI8kCPj91Xy/3T1AEe4CEugk5Wt3TWgXOuHbTxVRn1CG4pPe32H+zp7tZmti3ONFpBZO16FMiYJtMZptL801/Rb+' +
      'mUNoiUE3m56tBRTof2OM0yKfgFix6BysuS2xm2hII41mGpJJXsrs7v/nllCTpI3k1SxZKyQq6ADvoKp7h7o5+rxzGiwgCGeoB34IrDBKprfDDXDCo41U' +
      'CYRXig+NCSgKdPmDYdzXYQQyIRisfo4KvBzdx/wGecRxjyE9mf++kt9dzzurDsnHBv+rRYQBJKAjscEJFYEVYIcNcKXD4A+2dVCBRR1yZ00e9APoOByc' +
      'qS0mfvuxErN+b8zCk6shSqImqa24vLy/aFPRMgJtBRkwpAWepWTXuJrRjXrizm/ZhHFuFT3qzd3D+k4v5x5dqyeTBCOOdmIwJ6TqRNOSD1Y7wSMSatJ1' +
      '/VmZtUOTheO/2psQNfMeI8USLgDGecMvrRjxOT8Jej3PRzp6fT2xOEzQJUApVQj/dLgCHQB3/03K2hGuFkkZtYShD7rgtlI0WGeQ4FiG05jmsX+a9VdD' +
      '4inlhDeHIXdeBTQDMW/c2A2awEiwurGY81ji7Ex3rVKnKAERXBNw6odBs/uznC+BxXu1nZEhEJPUs8ONg2IU7cb+3jWam6/OzAC0zZP5JMqjugEpU9Lo' +
      'eVuTjiF5PejhaKszcLSlFAlda9HoONHGmgdGb1WmnogtmRNvjSC0qQqut6iFnA8IdIhrrk7ZAGpETeI+Mw9hUu8Dem3pG4Ga+oD1swaCfm0GqOzlIBGV' +
      'uUNsxY/tbYsAixY0RNfBUK557KaZ7oq/kyQHGgogcieCtnjgTk57kwWnRee/4bTDJuTRCrLd73p6mJllw+9VVWwdfwWpNtlOKqjh1hGPT0a7imJ82/2G' +
      'o5mOt3SzkiP3/stL6hohp8E02vgjYdHR0+gO24o9fEcdNdataOz3cmTPCA3hO8ai8GS/vxS9yGjNTPwDmjm2ZzQsJPKYh4H+dSIYUaNrZWAYglto3SVH' +
      'USus2doVrUaBihr9iq3HMTB/THL4gPPQ4VZyOnAWJ8Vfc25WCCs4WtZIR3QGUpazA84AJ7IwLAsbMTKJvPkfD7AIsDJKOpCIp6TWoBHn54sPhbJEiurA' +
      'lcFo59sFywYrYAXmVpGQwRf/CDUJnVugPCU2FllgM2qvosCx0ISVAwv8qyMwMeMT93snbUbJkpSyMsmorRhVO/QCOj2qapV888xAJAOBFSogrKW2KzFR' +
      'sV53Q5qnloES1FjFugknIFKgHbGiY+ebrtjvuwsRMzDsEGiB4iMQgOruBfIgT0Kv5H59xFijdK5PldSK0kBv+z+59nd6LJlc/4CVTMq6CHQvwB190gE=' +
      '',
    'base64',
  ),
)

/** Offset of the header in that file. */
export const HEADER_AT = 12
