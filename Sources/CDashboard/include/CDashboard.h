// The files of the dashboard, as they stand in the folder Page, inside the binary.
#ifndef CDASHBOARD_H
#define CDASHBOARD_H

#include <stddef.h>

// One file of the page.
struct dashboard_file {
    // The name in the folder, which is also the end of its address.
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t count;
};

// The file at a place, counted from 0; NULL behind the last one.
const struct dashboard_file *_Nullable dashboard_file(size_t place);

#endif
