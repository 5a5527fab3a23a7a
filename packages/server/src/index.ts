// Nothing is exported yet; this file makes the package build.
export {};
