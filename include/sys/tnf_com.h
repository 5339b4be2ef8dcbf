/*
 * tnf_com.h - what a TNF file is made of, under its old name.
 */
#ifndef SYS_TNF_COM_H
#define SYS_TNF_COM_H

#include <tnf/com.h>

#endif /* SYS_TNF_COM_H */
