// The SDK is used through its subpaths (`@holdfast/sdk/client`, …); this file goes when the first one exists.
export {};
