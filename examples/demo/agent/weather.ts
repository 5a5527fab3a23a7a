import { createHash } from "node:crypto";
import { nearestPlace, placeNamed } from "./places.ts";

export interface Weather {
  readonly place: string;
  readonly temperatureC: number;
  readonly sky: string;
  readonly windKmh: number;
  readonly source: string;
}

export interface WeatherRequest {
  readonly city?: string | undefined;
  readonly latitude?: number | undefined;
  readonly longitude?: number | undefined;
}

const skies = ["clear skies", "a few clouds", "overcast", "light rain", "showers", "fog"];
const legends = ["atlantis", "el dorado", "narnia", "mordor", "gotham"];

/**
 * The weather of a place, made up: the same place has the same weather all day, and nothing is asked of the network.
 *
 * @throws {Error} where no place of that name can be
 */
export function weatherOf({ city, latitude, longitude }: WeatherRequest, now: Date): Weather {
  if (city !== undefined && city.trim() !== "") {
    const known = placeNamed(city);
    if (known) return madeUp(known.name, known.latitude, now);
    if (
      legends.includes(city.trim().toLocaleLowerCase()) ||
      !/^[\p{L}\p{M}' .-]{2,60}$/u.test(city)
    )
      throw new Error(`No weather station knows a place called ${city}. Try Oslo or Nairobi.`);
    return madeUp(city.trim(), 45, now);
  }
  if (latitude === undefined || longitude === undefined)
    throw new Error("Name a city, or give latitude and longitude.");
  const place = nearestPlace(latitude, longitude);
  return madeUp(place.distance < 40 ? place.name : `near ${place.name}`, latitude, now);
}

function madeUp(place: string, latitude: number, now: Date): Weather {
  const seed = createHash("sha256")
    .update(`${place}/${now.toISOString().slice(0, 10)}`)
    .digest();
  const month = now.getUTCMonth();
  const summer = Math.cos(((month - 6.5) / 12) * 2 * Math.PI) * Math.sign(latitude || 1);
  const season = summer * Math.min(14, Math.abs(latitude) / 4);
  const base = 29 - Math.abs(latitude) * 0.42;
  return {
    place,
    temperatureC: Math.round(base + season + ((seed[0] ?? 0) % 7) - 3),
    sky: skies[(seed[1] ?? 0) % skies.length] ?? "clear skies",
    windKmh: 4 + ((seed[2] ?? 0) % 30),
    source: "made up for this demo",
  };
}
