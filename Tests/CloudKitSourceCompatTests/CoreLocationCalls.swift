// Only code that compiles on both sides, unmodified: here, and against Apple's framework.
import CoreLocation

// The one import of a model's file: it brings Foundation along.
struct VisitedPlace: Codable, Identifiable {
    var id = UUID()
    var day: Date
    var latitude: CLLocationDegrees
    var longitude: CLLocationDegrees

    var location: CLLocation { CLLocation(latitude: latitude, longitude: longitude) }
    var point: CLLocationCoordinate2D { CLLocationCoordinate2DMake(latitude, longitude) }
}
