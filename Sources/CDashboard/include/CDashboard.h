// The dashboard files of the folder Page, unchanged, as part of the binary.
#ifndef CDASHBOARD_H
#define CDASHBOARD_H

#include <stddef.h>

// A file of the page.
struct dashboard_file {
    // The name in the folder, which is also the last part of its address.
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t count;
};

// Returns the file at an index, counted from 0, or NULL after the last one.
const struct dashboard_file *_Nullable dashboard_file(size_t place);

#endif
