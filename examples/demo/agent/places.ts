/** Places the demo's weather knows by name: latitude, longitude. */
const places: Readonly<Record<string, readonly [number, number]>> = {
  Oslo: [59.91, 10.75],
  Bergen: [60.39, 5.32],
  Stockholm: [59.33, 18.07],
  Copenhagen: [55.68, 12.57],
  Helsinki: [60.17, 24.94],
  Reykjavik: [64.15, -21.94],
  London: [51.51, -0.13],
  Dublin: [53.35, -6.26],
  Paris: [48.86, 2.35],
  Berlin: [52.52, 13.4],
  Hamburg: [53.55, 9.99],
  Munich: [48.14, 11.58],
  Vienna: [48.21, 16.37],
  Zurich: [47.37, 8.54],
  Amsterdam: [52.37, 4.9],
  Brussels: [50.85, 4.35],
  Prague: [50.08, 14.44],
  Warsaw: [52.23, 21.01],
  Budapest: [47.5, 19.04],
  Athens: [37.98, 23.73],
  Rome: [41.9, 12.5],
  Madrid: [40.42, -3.7],
  Barcelona: [41.39, 2.17],
  Lisbon: [38.72, -9.14],
  Istanbul: [41.01, 28.98],
  Cairo: [30.04, 31.24],
  Lagos: [6.52, 3.38],
  Nairobi: [-1.29, 36.82],
  "Cape Town": [-33.92, 18.42],
  Dubai: [25.2, 55.27],
  Mumbai: [19.08, 72.88],
  Delhi: [28.61, 77.21],
  Singapore: [1.35, 103.82],
  "Hong Kong": [22.32, 114.17],
  Shanghai: [31.23, 121.47],
  Seoul: [37.57, 126.98],
  Tokyo: [35.68, 139.69],
  Sydney: [-33.87, 151.21],
  Auckland: [-36.85, 174.76],
  "New York": [40.71, -74.01],
  Boston: [42.36, -71.06],
  Chicago: [41.88, -87.63],
  "San Francisco": [37.77, -122.42],
  Vancouver: [49.28, -123.12],
  "Mexico City": [19.43, -99.13],
  "São Paulo": [-23.55, -46.63],
  "Buenos Aires": [-34.6, -58.38],
};

export interface Place {
  readonly name: string;
  readonly latitude: number;
  /** Kilometres from what was asked for. */
  readonly distance: number;
}

/** The nearest place the demo knows; good enough for a greeting. */
export function nearestPlace(latitude: number, longitude: number): Place {
  let nearest: Place = { name: "nowhere", latitude: 0, distance: Number.POSITIVE_INFINITY };
  for (const [name, [lat, lon]] of Object.entries(places)) {
    const distance = kilometres(latitude, longitude, lat, lon);
    if (distance < nearest.distance) nearest = { name, latitude: lat, distance };
  }
  return nearest;
}

/** A place by its name, in any case; undefined where it is not one of ours. */
export function placeNamed(name: string): Place | undefined {
  const wanted = name.trim().toLocaleLowerCase();
  for (const [known, [latitude]] of Object.entries(places))
    if (known.toLocaleLowerCase() === wanted) return { name: known, latitude, distance: 0 };
  return undefined;
}

function kilometres(aLat: number, aLon: number, bLat: number, bLon: number): number {
  const radians = Math.PI / 180;
  const half =
    Math.sin(((bLat - aLat) * radians) / 2) ** 2 +
    Math.cos(aLat * radians) *
      Math.cos(bLat * radians) *
      Math.sin(((bLon - aLon) * radians) / 2) ** 2;
  return 12_742 * Math.asin(Math.sqrt(half));
}
