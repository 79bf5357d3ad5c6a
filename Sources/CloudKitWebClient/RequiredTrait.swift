// Without the trait, the packages that this module imports are not fetched. Checked only in builds by
// SwiftPM, which knows the package's traits.
#if os(Linux) && !Client
#error("The trait Client of swift-cloudkit is off: name it in the manifest's 'traits:'")
#endif
